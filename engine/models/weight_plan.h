// In which form a model's weights are held: the type that it computes in, and how matrices are packed, each apart from how they are stored.
//
// Part of ModelSource; followed by weight_reader.h. Plain values. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/layers/linear_weight.h"
#include "engine/weights/tensor_file.h"

namespace winnow {

// A way to hold matrices in fewer bits.
class MatrixPacking {
 public:
  virtual ~MatrixPacking() = default;
  virtual std::string name() const = 0;  // as in ModelInfo::dtype: "int8"
  // What a number takes at most in a matrix with rows of `in` numbers, packed finely as well; nothing: such a matrix stays numbers.
  virtual std::optional<double> most_bits(std::int64_t in) const = 0;
  virtual std::optional<double> most_fine_bits(std::int64_t in) const { return most_bits(in); }
  // dense: [out, in] in the arithmetic type, on the CPU, wherever the model is. Null: this one stays numbers.
  virtual std::shared_ptr<const PackedMatrix> pack(const at::Tensor& dense) const = 0;
  // The same of what rows are looked up in, of the head, and of what sees pictures: towers and projectors.
  virtual std::shared_ptr<const PackedMatrix> pack_finely(const at::Tensor& dense) const { return pack(dense); }
};

struct WeightPlan {
  // fp32, bf16 or (not on the CPU) fp16: of products, norms and embeddings. Nothing: as stored.
  std::optional<at::ScalarType> arithmetic = at::kFloat;
  std::shared_ptr<const MatrixPacking> packing{};  // null: matrices are numbers of the arithmetic type
  // Matrices that a file stores in blocks of few bits are multiplied as they are (GGUF): on the CPU where they are mapped, on a GPU in its
  // memory. On the CPU, where the arithmetic is fp32, matrices of 16-bit numbers stay such (layers/upcast_matrix.h): the same values in
  // half of the memory.
  bool matrices_as_stored = false;
  // On the CPU. Where the arithmetic is fp32 and matrices are held in fewer bits, the cache is, too (KvStorage::kHalf), if a recipe says
  // nothing: the memory that processors give it which compute such models in 16 bits.
  bool narrow_cache = false;
};

// "bf16", "bf16, int8".
std::string plan_name(at::ScalarType arithmetic, const std::string& packing);

// What the weights take at most under a plan, before any is read: as numbers where their names do not say that they are packed.
std::uint64_t most_bytes_under(const WeightPlan& plan, const TensorFiles& files);

}  // namespace winnow
