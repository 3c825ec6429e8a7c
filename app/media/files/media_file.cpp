#include "app/media/files/media_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>

#include "app/media/files/beneath_folder.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

[[noreturn]] void throwForErrno(const std::string& path, int code) {
  switch (code) {
    case ENOENT: {
      struct stat link {};
      if (::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode)) {
        throw Exception(ErrorCode::kFileNotFound, path, "this is a link to a file that does not exist");
      }
      throw Exception(ErrorCode::kFileNotFound, path, "the file does not exist");
    }
    case ENOTDIR: throw Exception(ErrorCode::kFileNotFound, path, "the file does not exist");
    case EACCES:
    case EPERM: throw Exception(ErrorCode::kFileUnreadable, path, "there is no permission to read the file");
    case ELOOP: throw Exception(ErrorCode::kFileUnreadable, path, "the links to the file form a loop");
    case ENAMETOOLONG: throw Exception(ErrorCode::kFileNotFound, path, "the file name is too long");
    default: throw Exception(ErrorCode::kFileUnreadable, path, std::string("the file cannot be read (") + std::strerror(code) + ")");
  }
}

constexpr std::int64_t kSettledS = 2;  // file systems that count whole seconds, and one more

std::string versionOf(const struct stat& status) {
  if (status.st_mtim.tv_sec + kSettledS > std::time(nullptr)) return {};
  std::string text;
  for (const auto number :
       {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino), static_cast<std::int64_t>(status.st_size),
        static_cast<std::int64_t>(status.st_mtim.tv_sec), static_cast<std::int64_t>(status.st_mtim.tv_nsec),
        static_cast<std::int64_t>(status.st_ctim.tv_sec), static_cast<std::int64_t>(status.st_ctim.tv_nsec)})
    text += std::to_string(number) + ':';
  return text;
}

void requireRegular(const std::string& path, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return;
  const char* what = "not an ordinary file";
  if (S_ISDIR(status.st_mode)) what = "a folder, not a file";
  if (S_ISFIFO(status.st_mode)) what = "a pipe, not a file";
  if (S_ISSOCK(status.st_mode)) what = "a socket, not a file";
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) what = "a device, not a file";
  throw Exception(ErrorCode::kFileUnreadable, path, std::string("this is ") + what);
}

OpenFile openNamed(const std::string& path, int flags) {
  if (const std::optional<BeneathFolder> beneath = BeneathFolder::named(path)) return openBeneath(*beneath, flags);
  return OpenFile(::open(path.c_str(), flags));
}

}  // namespace

OpenedMedia openMedia(const std::string& path) {
  if (path.empty()) throw Exception(ErrorCode::kInvalidArgument, "", "no file name is given");
  if (path.find('\0') != std::string::npos) throw Exception(ErrorCode::kFileNotFound, path.c_str(), "the file name holds a zero byte");
  // Looked at before it is opened, because opening a device may already do something; looked at again through the descriptor, because
  // the name may by then mean another file.
  struct stat status {};
  const OpenFile looked = openNamed(path, O_PATH | O_CLOEXEC);
  if (!looked || ::fstat(looked.descriptor(), &status) != 0) throwForErrno(path, errno);
  requireRegular(path, status);
  auto file = std::make_shared<const OpenFile>(openNamed(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!*file || ::fstat(file->descriptor(), &status) != 0) throwForErrno(path, errno);
  requireRegular(path, status);
  if (status.st_size <= 0) throw Exception(ErrorCode::kEmptyFile, path, "the file is empty");
  return {std::move(file), status.st_size, versionOf(status)};
}

std::unique_ptr<MediaFile> mediaOnDisk(const std::string& path) { return std::make_unique<MediaFile>(path); }

std::int64_t MediaFile::tryReadAt(std::int64_t offset, std::span<std::uint8_t> into) const noexcept {
  if (offset < 0 || offset >= m_opened.sizeBytes) return 0;
  const auto wanted = std::min<std::int64_t>(static_cast<std::int64_t>(into.size()), m_opened.sizeBytes - offset);
  std::int64_t copied = 0;
  while (copied < wanted) {
    const ssize_t got =
        ::pread(m_opened.file->descriptor(), into.data() + copied, static_cast<std::size_t>(wanted - copied), offset + copied);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return copied > 0 ? copied : -static_cast<std::int64_t>(errno);
    if (got == 0) break;  // the file shrank after it was opened
    copied += got;
  }
  return copied;
}

std::vector<std::uint8_t> MediaFile::readRange(std::int64_t offset, std::int64_t bytes) const {
  if (offset < 0 || offset >= m_opened.sizeBytes || bytes <= 0) return {};
  std::vector<std::uint8_t> data(static_cast<std::size_t>(std::min(bytes, m_opened.sizeBytes - offset)));
  const std::int64_t got = tryReadAt(offset, data);
  if (got < 0) throwForErrno(m_path, static_cast<int>(-got));
  data.resize(static_cast<std::size_t>(got));
  return data;
}

}  // namespace winnow::app
