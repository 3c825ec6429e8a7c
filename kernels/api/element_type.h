// Element types, limits and launch statuses that the operators share.
#pragma once

#include <cstdint>

namespace winnow::kernels {

enum class ElementType : int { kFp32 = 1, kBf16 = 2, kFp16 = 3 };
enum class LaunchStatus : int { kOk = 0, kBadArgument = 1, kUnsupported = 2, kDeviceError = 3 };

// False for an unknown type.
inline bool is_known(ElementType type) {
  switch (type) {
    case ElementType::kFp32:
    case ElementType::kBf16:
    case ElementType::kFp16: return true;
  }
  return false;
}

// Per-head state and sums live on the stack. A group is the query heads of a KV head: 71 in Falcon 7B.
inline constexpr std::int64_t kMaxGroup = 256;
inline constexpr std::int64_t kMaxHeadDim = 512;

}  // namespace winnow::kernels
