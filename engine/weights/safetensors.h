// One .safetensors file: its header with every check of the reference reader, and its tensors as bytes.
//
// Used by weight_files.h, saved caches and by tests that read golden files. The header is read event by event (no document is built), so
// that a hostile header of 16 MiB costs no more memory than the table of tensors it may have. Checked before anything is allocated or read:
// header length, first byte, types, ranges, shape x dtype = bytes with checked multiplication, offsets sorted without hole or overlap, file
// size exact. Data is read with pread, never mapped: what was read stays right when the file changes later, so changed() matters only while
// it is read. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedFormat; the subject is the path, or "<path>: <tensor>". Threads:
// reading is const and may run on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/file_bytes.h"
#include "engine/weights/tensor_file.h"

namespace winnow {

inline constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{16} << 20;
inline constexpr std::size_t kMaxTensorNameBytes = 512;
inline constexpr std::size_t kMaxTensorRank = 6;

class SafetensorsFile : public TensorFile {
 public:
  explicit SafetensorsFile(const std::string& path) : SafetensorsFile(RegularFile(path)) {}
  explicit SafetensorsFile(RegularFile file);

  const std::string& path() const noexcept override { return file_.path(); }
  void read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const override;
  bool changed() const noexcept override { return file_.changed(); }
  std::uint64_t data_bytes() const noexcept { return data_bytes_; }

 private:
  RegularFile file_;
  std::uint64_t data_bytes_ = 0;
};

// The header alone, for fuzzing: header = the JSON text, file_bytes = size of the whole file, header included.
TensorFile::Tensors parse_safetensors_header(std::string_view header, std::uint64_t file_bytes, const std::string& path);

}  // namespace winnow
