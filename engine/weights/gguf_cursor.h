// A place in the header of a GGUF file that moves on as it is read, never beyond the header's limit or the end of the file.
//
// Used by gguf_header.cpp. Reads ahead by 64 KiB. Errors: Exception; kDamagedFile where the file ends, kLimitExceeded at the limit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/weights/gguf_header.h"

namespace winnow {

static_assert(std::endian::native == std::endian::little, "numbers of GGUF files are read as they are stored");

class GgufCursor {
 public:
  GgufCursor(const GgufBytes& bytes, const std::string& path)
      : bytes_(bytes), path_(path), end_(std::min(bytes.size, kMaxGgufHeaderBytes)) {}

  std::uint64_t position() const noexcept { return position_; }

  template <typename Number>
  Number number() {
    Number number{};
    read(std::as_writable_bytes(std::span(&number, 1)));
    return number;
  }

  // Appends `count` bytes to `target`.
  void append(std::string& target, std::uint64_t count) {
    require_bytes(count);
    const std::size_t before = target.size();
    target.resize(before + static_cast<std::size_t>(count));
    read(std::as_writable_bytes(std::span(target).subspan(before)));
  }

  // Throws unless `count` more bytes are there: before memory is taken for them.
  void require_bytes(std::uint64_t count) const {
    if (count <= end_ - position_) return;
    if (end_ == bytes_.size)
      throw Exception(ErrorCode::kDamagedFile, path_, "the file ends within its header, as an unfinished download does: download it again");
    throw Exception(ErrorCode::kLimitExceeded, path_,
                    "the header is larger than the limit of " + std::to_string(kMaxGgufHeaderBytes) + " bytes");
  }

 private:
  static constexpr std::uint64_t kAheadBytes = std::uint64_t{64} << 10;

  void read(std::span<std::byte> target) {
    require_bytes(target.size());
    while (!target.empty()) {
      if (ahead_.empty()) fill();
      const std::size_t count = std::min(ahead_.size(), target.size());
      std::memcpy(target.data(), ahead_.data(), count);
      target = target.subspan(count);
      ahead_ = ahead_.subspan(count);
      position_ += count;
    }
  }

  void fill() {
    buffer_.resize(static_cast<std::size_t>(std::min(kAheadBytes, end_ - position_)));
    bytes_.read(position_, buffer_);
    ahead_ = buffer_;
  }

  const GgufBytes& bytes_;
  const std::string& path_;
  std::uint64_t end_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> ahead_;
};

}  // namespace winnow
