// bf16 matrices for fp32 arithmetic, rounded while a model is loaded: for CPUs without bf16 instructions.
//
// A MatrixPacking of weight_plan.h that makes layers/upcast_matrix.h. Weights stored in bf16 are kept exactly. CPU only. Threads: engine
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/models/weights/weight_plan.h"

namespace winnow {

class UpcastPacking final : public MatrixPacking {
 public:
  std::string name() const override { return "BF16"; }
  std::optional<double> most_bits(std::int64_t /*in*/) const override { return 16.0; }
  std::shared_ptr<const PackedMatrix> pack(const at::Tensor& dense) const override;
};

}  // namespace winnow
