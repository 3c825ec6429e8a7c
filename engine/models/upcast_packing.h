// Matrices in bf16 under arithmetic in fp32, made of numbers when a model is loaded: what processors without products of bf16 take for it.
//
// A MatrixPacking of weight_plan.h; the matrices are layers/upcast_matrix.h's. Numbers that a folder stores in bf16 are not changed. On the
// CPU. Threads: engine thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/models/weight_plan.h"

namespace winnow {

class UpcastPacking final : public MatrixPacking {
 public:
  std::string name() const override { return "BF16"; }
  std::optional<double> most_bits(std::int64_t /*in*/) const override { return 16.0; }
  std::shared_ptr<const PackedMatrix> pack(const at::Tensor& dense) const override;
};

}  // namespace winnow
