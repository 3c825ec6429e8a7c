#include "engine/base/file_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

std::string system_reason(int code) { return std::error_code(code, std::generic_category()).message(); }

// One read() asks for at most this much, so that a very large tensor cannot overflow ssize_t or Linux's 2 GiB limit per call.
constexpr std::size_t kReadChunkBytes = std::size_t{1} << 26;

}  // namespace

RegularFile::RegularFile(std::string path) : path_(std::move(path)) {
  if (path_.empty() || path_.find('\0') != std::string::npos) {
    throw Exception(ErrorCode::kFileNotFound, path_, "not a file name");
  }
  // O_NONBLOCK: opening a FIFO without a writer would wait forever.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor_ < 0) {
    const int code = errno;
    const bool missing = code == ENOENT || code == ENOTDIR;
    throw Exception(missing ? ErrorCode::kFileNotFound : ErrorCode::kFileUnreadable, path_,
                    missing ? "the file does not exist" : "the file cannot be opened (" + system_reason(code) + ")");
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 0) {
    ::close(std::exchange(descriptor_, -1));
    throw Exception(ErrorCode::kFileUnreadable, path_, S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file");
  }
  size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  modified_ = status.st_mtim;
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      modified_(other.modified_) {}

RegularFile& RegularFile::operator=(RegularFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(modified_, other.modified_);
  return *this;
}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::uint64_t RegularFile::size_now_bytes() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || status.st_size < 0) {
    throw Exception(ErrorCode::kFileUnreadable, path_, "the file's size cannot be read (" + system_reason(errno) + ")");
  }
  return static_cast<std::uint64_t>(status.st_size);
}

bool RegularFile::changed() const noexcept {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return true;
  return static_cast<std::uint64_t>(status.st_size) != size_bytes_ || status.st_mtim.tv_sec != modified_.tv_sec ||
         status.st_mtim.tv_nsec != modified_.tv_nsec;
}

void RegularFile::read_at(std::uint64_t offset, std::span<std::byte> target) const {
  if (offset > size_bytes_ || target.size() > size_bytes_ - offset) {
    throw Exception(ErrorCode::kDamagedFile, path_, "a part of the file was asked for that lies beyond its end");
  }
  std::size_t done = 0;
  while (done < target.size()) {
    const std::size_t wanted = std::min(kReadChunkBytes, target.size() - done);
    const ssize_t got = ::pread(descriptor_, target.data() + done, wanted, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Exception(ErrorCode::kFileUnreadable, path_, "reading failed (" + system_reason(errno) + ")");
    if (got == 0) throw Exception(ErrorCode::kDamagedFile, path_, "the file became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
}

std::string read_file_bytes(const std::string& path, std::uint64_t max_bytes) {
  const RegularFile file(path);
  if (file.size_bytes() > max_bytes) {
    throw Exception(ErrorCode::kLimitExceeded, path,
                    "the file has " + std::to_string(file.size_bytes()) + " bytes, more than the limit of " + std::to_string(max_bytes));
  }
  std::string bytes(static_cast<std::size_t>(file.size_bytes()), '\0');
  file.read_at(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

}  // namespace winnow
