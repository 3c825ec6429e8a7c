// Quantises 16- or 32-bit matrices to 8 or 4 bits while a model is loaded: blocks of 32 elements with a scale each, as in GGUF files.
//
// A MatrixPacking of weight_plan.h. 8 bits: Q8_0. 4 bits: Q4_1 (5 with its scales), but Q8_0 for embedding tables, heads, vision towers and
// projectors, where errors cost most. Rows that are no multiple of 32 are padded with zeros (layers/padded_matrix.h). A matrix stays
// unquantised if padding would make it more than a third longer, or if an element is too large for a block's scale. Quantised on the CPU,
// stored on the model's device. Threads: engine thread (runs on a team inside).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/models/weights/weight_plan.h"
#include "kernels/api/block_types.h"

namespace winnow {

enum class PackedBits : int { kEight = 8, kFour = 4 };

class BlockPacking final : public MatrixPacking {
 public:
  // device: the model's.
  explicit BlockPacking(PackedBits bits, at::Device device = at::kCPU) : bits_(bits), device_(device) {}
  std::string name() const override { return bits_ == PackedBits::kEight ? "int8" : "int4"; }
  std::optional<double> most_bits(std::int64_t in) const override;
  std::optional<double> most_fine_bits(std::int64_t in) const override;
  std::shared_ptr<const PackedMatrix> pack(const at::Tensor& dense) const override;
  std::shared_ptr<const PackedMatrix> pack_finely(const at::Tensor& dense) const override;

 private:
  std::shared_ptr<const PackedMatrix> in_blocks(const at::Tensor& dense, kernels::BlockType type) const;

  PackedBits bits_;
  at::Device device_;
};

}  // namespace winnow
