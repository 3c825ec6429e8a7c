// Normalises cached keys to length 1 in place, after rotating them back, on an NVIDIA GPU: for all layers and heads in one launch.
//
// Used by engine/compression (through engine/cuda_plugin); implemented in kernels/cuda/unit_keys.cu. A key is rotated by `rotation` times
// the frequency of each pair (rotate-half, any sign), then divided by its length, which is at least kLeastKeyLength, and rounded once to
// the type. Everything is fp32; sums are always in the same order. Never throws, never allocates, does not wait for the device.
// kBadArgument: a missing pointer, a size below 1, an unknown type, frequencies for an odd head size. kUnsupported: more than the limits.
// kDeviceError: the launch failed.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr float kLeastKeyLength = 1e-12F;
inline constexpr std::int64_t kMaxUnitKeys = std::int64_t{1} << 30;
inline constexpr std::int64_t kMaxUnitKeyWidth = 512;

struct UnitKey {
  void* key = nullptr;  // [head_dim]; all different
  float rotation = 0.0F;
  std::int32_t unused = 0;
};

struct CudaUnitKeysArgs {
  ElementType type = ElementType::kFp32;
  std::int64_t head_dim = 0;
  std::int64_t count = 0;
  const UnitKey* keys = nullptr;       // [count]
  const float* frequencies = nullptr;  // [head_dim / 2]; null: no rotation
  float* lengths = nullptr;            // [count], before normalisation
};

// All pointers host memory.
LaunchStatus cuda_unit_keys_reference(const CudaUnitKeysArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_unit_keys(const CudaUnitKeysArgs& args, void* stream);

}  // namespace winnow::kernels
