// A file of named tensors, whatever its format: what is in it, and bytes of it.
//
// The base of safetensors.h and gguf_file.h; what model_weights.h reads from. A stored type is told in blocks of elements and bytes, so
// that formats that share a scale among elements fit (one element a block otherwise). Errors: Exception; kDamagedFile. Threads: reading is
// const and may run on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/api/block_types.h"

namespace winnow {

inline constexpr std::size_t kMaxTensors = 20'000;

// The weight loader takes the first three and those whose elements share scales (kernels/api/block_types.h); golden files have some
// integers.
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
  kQ8_0 = 16,
  kQ4_0 = 17,
  kQ4_1 = 18,
  kQ5_0 = 19,
  kQ5_1 = 20,
  kQ2_K = 21,
  kQ3_K = 22,
  kQ4_K = 23,
  kQ5_K = 24,
  kQ6_K = 25,
  kIQ4_NL = 26,
  kIQ4_XS = 27,
  kU4Z = 28,
  kU8Z = 29,
};

struct StoredBlock {
  std::uint64_t elements = 1;
  std::uint64_t bytes = 0;
};

std::string_view stored_type_name(StoredType type);           // as in safetensors and GGUF: "BF16", "Q4_1"; "INT4" and "INT8" of ours
std::string shape_text(std::span<const std::int64_t> shape);  // for errors: "[2, 3]"
std::optional<StoredType> stored_type_named(std::string_view name);
StoredBlock stored_block(StoredType type);
// The type as kernels read it: the floating-point types of at most 32 bits and those with shared scales.
std::optional<kernels::BlockType> block_type(StoredType type);

struct StoredTensor {
  StoredType type = StoredType::kF32;
  std::vector<std::int64_t> shape{};  // outermost first; empty for a scalar
  std::uint64_t begin = 0;            // byte offsets in the file
  std::uint64_t end = 0;
  // Rows (of a vector, elements) are stored so many at a time with their two halves interleaved: first half's first, second half's first,
  // first half's second ... 0: in order. An even number that divides the rows. What is read is as it is stored; row_order() undoes it.
  std::int64_t interleaved = 0;
  // The stored values are one more than the name means (Gemma's norms in GGUF files). ModelWeights takes it away.
  bool with_one = false;
  // For a matrix: which column stored column i is; null: the i-th.
  std::shared_ptr<const std::vector<std::int32_t>> column_of{};
  std::uint64_t bytes() const { return end - begin; }
  std::uint64_t elements() const { return bytes() / stored_block(type).bytes * stored_block(type).elements; }
};

// A type whose elements share scales: matrices of it may stay as they are.
bool in_few_bits(StoredType type);

// Which stored row (of a vector, element) is row i; empty: the i-th. Errors: kDamagedFile where the number does not divide the rows.
std::vector<std::int32_t> row_order(const StoredTensor& tensor);

class TensorFile {
 public:
  using Tensors = std::map<std::string, StoredTensor, std::less<>>;

  virtual ~TensorFile() = default;
  TensorFile(const TensorFile&) = delete;
  TensorFile& operator=(const TensorFile&) = delete;

  virtual const std::string& path() const noexcept = 0;
  const Tensors& tensors() const noexcept { return tensors_; }
  // Throws kDamagedFile if there is no such tensor.
  const StoredTensor& tensor(std::string_view name) const;
  // Fills target with the tensor's bytes from `offset` on; kDamagedFile if the file became shorter.
  virtual void read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const = 0;
  // Another program has written to the file or cut it since it was opened, or a part of it could not be read where it lay. A
  // tensor file that is not one on a disk never changes.
  virtual bool changed() const noexcept { return false; }
  // The tensor's bytes where they lie, as long as this object lives; empty: this file is not mapped.
  virtual std::span<const std::byte> view(const StoredTensor& tensor) const { return {}; }

 protected:
  TensorFile() = default;
  TensorFile(TensorFile&&) = default;

  Tensors tensors_;
};

// The files that one model's weights are read from, all headers checked.
struct TensorFiles {
  std::string path;  // of the model, for errors
  std::vector<std::shared_ptr<const TensorFile>> files{};

  std::uint64_t total_bytes() const;  // of tensor data as stored
};

}  // namespace winnow
