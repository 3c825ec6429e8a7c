#include "engine/models/weight_plan.h"

namespace winnow {

std::string plan_name(at::ScalarType arithmetic, const std::string& packing) {
  const std::string name = arithmetic == at::kBFloat16 ? "bf16" : arithmetic == at::kHalf ? "fp16" : "fp32";
  return packing.empty() ? name : name + ", " + packing;
}

std::uint64_t most_bytes_under(const WeightPlan& plan, const TensorFiles& files) {
  if (!plan.arithmetic) return files.total_bytes();
  std::uint64_t bytes = 0;
  for (const auto& file : files.files) {
    for (const auto& [name, tensor] : file->tensors()) {
      const bool stays = plan.blocks_as_stored && in_few_bits(tensor.type);
      bytes += stays ? tensor.bytes() : tensor.elements() * at::elementSize(*plan.arithmetic);
    }
  }
  return bytes;
}

}  // namespace winnow
