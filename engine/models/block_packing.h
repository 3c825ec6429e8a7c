// Matrices in eight or four bits, made of numbers when a model is loaded: blocks of 32 with a scale of their own, as in GGUF's files.
//
// A MatrixPacking of weight_plan.h. Eight bits: Q8_0. Four: Q4_1 (five with its scales), tables, heads, towers and projectors in Q8_0: a
// word's row is read alone, every logit of an answer is compared with every other, and all that is known of a picture goes through few
// rows. Rows that are no whole blocks are filled up with zeros (layers/padded_matrix.h). Matrices that this would make more than a third
// longer, and those with numbers too large for a block's scale, stay numbers. Made on the CPU, held where the model is. Threads: engine
// thread (runs on a team inside).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/models/weight_plan.h"
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
