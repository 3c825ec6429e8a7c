// How a model's weights are held in memory: the arithmetic dtype and how matrices are quantised, independent of the file's format.
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

// Quantises matrices.
class MatrixPacking {
 public:
  virtual ~MatrixPacking() = default;
  virtual std::string name() const = 0;  // as in ModelInfo::dtype: "int8"
  // Upper bound of bits per element in a matrix with rows of `in` elements; nullopt if such a matrix stays unquantised.
  virtual std::optional<double> most_bits(std::int64_t in) const = 0;
  virtual std::optional<double> most_fine_bits(std::int64_t in) const { return most_bits(in); }
  // dense: [out, in] in the arithmetic dtype, always on the CPU. Returns null if this matrix stays unquantised.
  virtual std::shared_ptr<const PackedMatrix> pack(const at::Tensor& dense) const = 0;
  // The same for embedding tables, the head, vision towers and projectors, which may need more bits.
  virtual std::shared_ptr<const PackedMatrix> pack_finely(const at::Tensor& dense) const { return pack(dense); }
};

struct WeightPlan {
  // For products, norms and embeddings: fp32, bf16 or (not on the CPU) fp16. nullopt: as stored.
  std::optional<at::ScalarType> arithmetic = at::kFloat;
  std::shared_ptr<const MatrixPacking> packing{};  // null: matrices are held in the arithmetic dtype
  // Quantised matrices of a file (GGUF) are multiplied as stored: on the CPU from the mapped file, on a GPU from its memory. On the CPU
  // under fp32 arithmetic 16-bit matrices stay 16-bit, too (layers/upcast_matrix.h): the same values in half the memory.
  bool matrices_as_stored = false;
  // On the CPU: if the arithmetic is fp32 and matrices are held in fewer bits, the KV cache defaults to 16 bits (KvStorage::kHalf), as on
  // CPUs that compute such models in 16 bits.
  bool narrow_cache = false;
  // Packs the large matrices of vision encoders and projectors; null: `packing` does.
  std::shared_ptr<const MatrixPacking> vision_packing{};
};

// "bf16", "bf16, int8".
std::string plan_name(at::ScalarType arithmetic, const std::string& packing);

// Upper bound of the weights' bytes under a plan, before any is read. Tensors whose names do not tell are counted as unquantised.
std::uint64_t most_bytes_under(const WeightPlan& plan, const TensorFiles& files);

}  // namespace winnow
