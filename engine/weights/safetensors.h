// One .safetensors file: its header with every check of the reference reader, and its tensors as bytes.
//
// Used by weight_folder.h and by tests that read golden files. The header is read event by event (no document is built), so that a
// hostile header of 16 MiB costs no more memory than the table of tensors it may have. Checked before anything is allocated or read:
// header length, first byte, types, ranges, shape x dtype = bytes with checked multiplication, offsets sorted without hole or overlap, file
// size exact. Data is read with pread, never mapped. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedFormat; the subject is
// the path, or "<path>: <tensor>". Threads: reading is const and may run on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/file_bytes.h"

namespace winnow {

inline constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{16} << 20;
inline constexpr std::size_t kMaxTensors = 20'000;
inline constexpr std::size_t kMaxTensorNameBytes = 512;
inline constexpr std::size_t kMaxTensorRank = 6;

// Every element type of the format; the weight loader takes the first three, golden files some integers.
enum class StoredType : int {
  kF32 = 1,
  kF16 = 2,
  kBF16 = 3,
  kF64 = 4,
  kI64 = 5,
  kI32 = 6,
  kI16 = 7,
  kI8 = 8,
  kU64 = 9,
  kU32 = 10,
  kU16 = 11,
  kU8 = 12,
  kBool = 13,
  kF8E4M3 = 14,
  kF8E5M2 = 15,
};

std::string_view stored_type_name(StoredType type);  // as in the file: "BF16"
std::uint64_t stored_type_bytes(StoredType type);    // per element

struct StoredTensor {
  StoredType type = StoredType::kF32;
  std::vector<std::int64_t> shape;  // outermost first; empty for a scalar
  std::uint64_t begin = 0;          // byte offsets in the file
  std::uint64_t end = 0;
  std::uint64_t bytes() const { return end - begin; }
};

class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path) : SafetensorsFile(RegularFile(path)) {}
  explicit SafetensorsFile(RegularFile file);

  const std::string& path() const noexcept { return file_.path(); }
  const std::map<std::string, StoredTensor, std::less<>>& tensors() const noexcept { return tensors_; }
  // Throws kDamagedFile if there is no such tensor.
  const StoredTensor& tensor(std::string_view name) const;
  // Fills target with the tensor's bytes from `offset` on; kDamagedFile if the file became shorter.
  void read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const;
  std::uint64_t data_bytes() const noexcept { return data_bytes_; }

 private:
  RegularFile file_;
  std::map<std::string, StoredTensor, std::less<>> tensors_;
  std::uint64_t data_bytes_ = 0;
};

// The header alone, for fuzzing: header = the JSON text, file_bytes = size of the whole file, header included.
std::map<std::string, StoredTensor, std::less<>> parse_safetensors_header(std::string_view header, std::uint64_t file_bytes,
                                                                          const std::string& path);

}  // namespace winnow
