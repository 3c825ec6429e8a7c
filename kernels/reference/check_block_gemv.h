// The argument rules of GEMVs with quantised matrices, the same for every implementation.
#pragma once

#include "kernels/api/block_gemv.h"

namespace winnow::kernels {

inline constexpr std::int64_t kMaxBlockElements = 256;

inline LaunchStatus check_arguments(const BlockGemvArgs& args) {
  if (args.matrix == nullptr || args.input == nullptr || args.output == nullptr || args.columns < 0 || args.begin < 0 ||
      args.end < args.begin || block_elements(args.type) == 0 || args.columns % block_elements(args.type) != 0) {
    return LaunchStatus::kBadArgument;
  }
  return LaunchStatus::kOk;
}

inline std::int64_t row_bytes(BlockType type, std::int64_t columns) { return columns / block_elements(type) * block_bytes(type); }

}  // namespace winnow::kernels
