#include "engine/models/weights/weight_format.h"

#include <memory>
#include <optional>

#include "engine/models/weights/block_packing.h"
#include "engine/models/weights/upcast_packing.h"

namespace winnow {
namespace {

// One token through a network reads every weight once, so half the bytes is nearly twice the speed, where the processor multiplies bf16.
bool cpu_multiplies_bf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

// Nullopt: as stored.
std::optional<at::ScalarType> dtype_of(WeightFormat wanted, at::Device device) {
  if (wanted == WeightFormat::kFp32) return at::kFloat;
  if (wanted == WeightFormat::kBf16) return at::kBFloat16;
  if (!device.is_cpu()) return std::nullopt;
  return cpu_multiplies_bf16() ? at::kBFloat16 : at::kFloat;
}

std::shared_ptr<const MatrixPacking> packing_of(WeightFormat wanted, at::Device device) {
  if (wanted == WeightFormat::kInt8) return std::make_shared<BlockPacking>(PackedBits::kEight, device);
  if (wanted == WeightFormat::kInt4) return std::make_shared<BlockPacking>(PackedBits::kFour, device);
  return nullptr;
}

}  // namespace

WeightPlan weights_as(WeightFormat wanted, VisionFormat vision, at::Device device) {
  WeightPlan plan{dtype_of(wanted, device), packing_of(wanted, device)};
  // libtorch multiplies matrices of bf16 in a plain loop there, which makes a prompt take five times as long.
  if (wanted == WeightFormat::kBf16 && device.is_cpu() && !cpu_multiplies_bf16()) plan = {at::kFloat, std::make_shared<UpcastPacking>()};
  plan.matrices_as_stored = wanted == WeightFormat::kAuto || plan.packing != nullptr;
  if (vision == VisionFormat::kInt8) plan.vision_packing = packing_of(WeightFormat::kInt8, device);
  plan.narrow_cache = device.is_cpu() && plan.matrices_as_stored;
  return plan;
}

}  // namespace winnow
