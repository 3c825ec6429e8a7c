// A place in a file of weights that moves on as numbers and texts are read, never beyond the file's end.
//
// Used by the readers of formats whose tables lie between the weights (ctranslate2_folder.h, ggml_whisper.h). Little-endian. Nothing is
// taken for a length before the file is known to have it. Errors: Exception; kDamagedFile, those of RegularFile.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "engine/base/error.h"
#include "engine/base/file_bytes.h"

namespace winnow {

static_assert(std::endian::native == std::endian::little, "numbers are read as they are stored");

class FileCursor {
 public:
  explicit FileCursor(const RegularFile& file) : file_(file) {}

  std::uint64_t position() const { return position_; }
  bool at_end() const { return position_ == file_.size_bytes(); }

  template <class Number>
  Number number() {
    Number value{};
    read(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  std::string text(std::uint64_t bytes) {
    require_bytes(bytes);
    std::string value(static_cast<std::size_t>(bytes), '\0');
    read(std::as_writable_bytes(std::span(value)));
    return value;
  }
  void skip(std::uint64_t bytes) {
    require_bytes(bytes);
    position_ += bytes;
  }

 private:
  void require_bytes(std::uint64_t bytes) const {
    if (bytes > file_.size_bytes() - position_)
      throw Exception(ErrorCode::kDamagedFile, file_.path(), "the file ends too early, as an unfinished download does: download it again");
  }
  void read(std::span<std::byte> target) {
    require_bytes(target.size());
    file_.read_at(position_, target);
    position_ += target.size();
  }

  const RegularFile& file_;
  std::uint64_t position_ = 0;
};

}  // namespace winnow
