#include "engine/models/weight_plan.h"

namespace winnow {

std::string plan_name(at::ScalarType arithmetic, const MatrixPacking* packing) {
  const std::string name = arithmetic == at::kBFloat16 ? "bf16" : arithmetic == at::kHalf ? "fp16" : "fp32";
  return packing != nullptr ? name + ", " + packing->name() : name;
}

std::uint64_t most_bytes_under(const WeightPlan& plan, const TensorFiles& files) {
  if (!plan.arithmetic) return files.total_bytes();
  std::uint64_t elements = 0;
  for (const auto& file : files.files) {
    for (const auto& [name, tensor] : file->tensors()) elements += tensor.elements();
  }
  return elements * at::elementSize(*plan.arithmetic);
}

}  // namespace winnow
