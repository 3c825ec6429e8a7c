#include "engine/base/line_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>
#include <system_error>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::size_t kChunkBytes = 1 << 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors begin files with it

}  // namespace

LineReader::LineReader(const std::string& path) : file_(path), name_(path) {}

LineReader LineReader::standard_input() { return {}; }

bool LineReader::fill() {
  at_ = 0;
  if (file_) {
    buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, file_->size_bytes() - offset_)));
    file_->read_at(offset_, std::as_writable_bytes(std::span(buffer_)));
    offset_ += buffer_.size();
    return !buffer_.empty();
  }
  buffer_.resize(kChunkBytes);
  ssize_t got = 0;
  do {
    got = ::read(STDIN_FILENO, buffer_.data(), buffer_.size());
  } while (got < 0 && errno == EINTR);
  const int code = errno;
  buffer_.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) throw Exception(ErrorCode::kFileUnreadable, name_, "it cannot be read (" + std::generic_category().message(code) + ")");
  return got > 0;
}

bool LineReader::next(std::string& line) {
  line.clear();
  ++number_;
  for (bool any = false;; any = true) {
    if (at_ == buffer_.size() && !fill()) return any;
    const std::size_t end = buffer_.find('\n', at_);
    const std::size_t stop = std::min(end, buffer_.size());
    if (stop - at_ > kLongestLine - line.size()) throw Exception(ErrorCode::kLimitExceeded, where(), "the line is longer than 4 MiB");
    line.append(buffer_, at_, stop - at_);
    at_ = std::min(stop + 1, buffer_.size());
    if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    if (end != std::string::npos) return true;
  }
}

}  // namespace winnow
