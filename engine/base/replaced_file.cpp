#include "engine/base/replaced_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWriteChunkBytes = std::size_t{1} << 26;  // one write() takes less than 2 GiB
constexpr int kMostNames = 100;
constexpr std::string_view kPart = ".part";

[[noreturn]] void refuse(const std::string& path, int code) {
  throw Exception(ErrorCode::kFileUnreadable, path, "it cannot be written (" + std::generic_category().message(code) + ")");
}

struct Target {
  std::string path;
  std::optional<mode_t> mode;  // of what is there
};

Target target_of(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) throw Exception(ErrorCode::kFileUnreadable, path, "that is not a file name");
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const int code = errno;
    struct stat link {};
    if (code != ENOENT) refuse(path, code);
    if (::lstat(path.c_str(), &link) == 0) throw Exception(ErrorCode::kFileUnreadable, path, "it is a link that leads nowhere");
    return {path, {}};
  }
  if (!S_ISREG(status.st_mode)) {
    throw Exception(ErrorCode::kFileUnreadable, path,
                    S_ISDIR(status.st_mode) ? "it is a folder and cannot be written" : "it is not a regular file and is not written over");
  }
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  if (failed) refuse(path, failed.value());
  return {real.string(), status.st_mode & 07777};
}

// "<file>.<process>-<n>.part", of a process that is gone: the file. Nothing: it is another name, or somebody writes there.
std::optional<std::string_view> left_behind(std::string_view name) {
  if (!name.ends_with(kPart)) return std::nullopt;
  name.remove_suffix(kPart.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  const char* const end = name.data() + name.size();
  pid_t process = 0;
  int number = 0;
  const auto [behind, problem] = std::from_chars(name.data() + dot + 1, end, process);
  if (problem != std::errc() || process <= 0 || behind == end || *behind != '-') return std::nullopt;
  const auto [last, odd] = std::from_chars(behind + 1, end, number);
  if (odd != std::errc() || last != end || number < 0) return std::nullopt;
  if (::kill(process, 0) == 0 || errno != ESRCH) return std::nullopt;
  return name.substr(0, dot);
}

}  // namespace

void remove_unfinished(const std::string& path) {
  std::error_code failed;
  fs::path file_there = path;
  if (file_there.has_filename()) file_there = fs::weakly_canonical(file_there, failed);  // a link's target is what was written
  if (failed) return;
  const std::string of = file_there.filename().string();
  int looked = 0;
  fs::directory_iterator file(file_there.parent_path(), failed);
  for (; !failed && file != fs::directory_iterator() && looked < kMostNamesLookedAt; file.increment(failed), ++looked) {
    const std::string name = file->path().filename().string();
    const std::optional<std::string_view> unfinished = left_behind(name);
    std::error_code ignored;
    if (!unfinished || (!of.empty() && *unfinished != of) || !fs::is_regular_file(file->symlink_status(ignored))) continue;
    fs::remove(file->path(), ignored);
  }
}

void require_replaceable(const std::string& path) {
  const fs::path folder = fs::path(target_of(path).path).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) refuse(path, errno);
}

ReplacedFile::ReplacedFile(std::string path) : path_(std::move(path)) {
  Target target = target_of(path_);
  target_ = std::move(target.path);
  remove_unfinished(target_);
  for (int i = 0; descriptor_ < 0; ++i) {
    part_ = target_ + "." + std::to_string(::getpid()) + "-" + std::to_string(i) + std::string(kPart);
    descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0 && (errno != EEXIST || i >= kMostNames)) refuse(path_, errno);
  }
  if (target.mode) [[maybe_unused]]
    const int kept = ::fchmod(descriptor_, *target.mode);
}

ReplacedFile::~ReplacedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!part_.empty()) ::unlink(part_.c_str());
}

void ReplacedFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kWriteChunkBytes));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) refuse(path_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void ReplacedFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void ReplacedFile::commit() {
  if (::fsync(descriptor_) != 0) refuse(path_, errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) refuse(path_, errno);
  if (::rename(part_.c_str(), target_.c_str()) != 0) refuse(path_, errno);
  part_.clear();
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace winnow
