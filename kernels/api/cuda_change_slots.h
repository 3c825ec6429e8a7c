// Moves or merges cache slots in GPU memory: the evictions after a decoded token, for all layers and heads in one launch.
//
// Used by engine/kv_cache (through engine/cuda_plugin); implemented in kernels/cuda/change_slots.cu. A moved row keeps its bits. A merged
// row becomes (own * row + weight * other row) / divisor: every product, sum and quotient is rounded to fp32, the result once to the type.
// The changes of a list run in order; no two lists share a row. Never throws, never allocates, does not wait for the device. kBadArgument:
// a missing pointer, a size below 1, an unknown type. kUnsupported: more lists or elements than the limits. kDeviceError: the launch
// failed.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kMaxChangeLists = std::int64_t{1} << 30;
inline constexpr std::int64_t kMaxChangedWidth = std::int64_t{1} << 20;

struct SlotChange {
  enum Kind : std::int32_t { kMoves, kReceives, kReceivesValue };
  const void* from_key = nullptr;  // rows [head_dim]
  const void* from_value = nullptr;
  void* to_key = nullptr;
  void* to_value = nullptr;
  float own = 1.0F;
  float weight = 1.0F;
  float divisor = 1.0F;
  Kind kind = kMoves;  // kReceivesValue: the key stays as it is
};

struct CudaChangeSlotsArgs {
  ElementType type = ElementType::kFp32;
  std::int64_t head_dim = 0;
  std::int64_t lists = 0;
  const SlotChange* changes = nullptr;  // [begin[lists]]
  const std::int32_t* begin = nullptr;  // [lists + 1], ascending from 0: list i has changes begin[i] to begin[i + 1]
};

// All pointers host memory.
LaunchStatus cuda_change_slots_reference(const CudaChangeSlotsArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_change_slots(const CudaChangeSlotsArgs& args, void* stream);

}  // namespace winnow::kernels
