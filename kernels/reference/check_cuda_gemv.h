// The argument rules of GEMVs on a GPU, the same for every implementation; reads no device memory.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_gemv.h"
#include "kernels/reference/check_gated_activation.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const CudaGemvArgs& args) {
  const auto is_aligned_row = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kGemvAlignment == 0; };
  if (!is_known(args.type) || !is_known(args.output_type) || args.matrix == nullptr || args.input == nullptr || args.output == nullptr ||
      args.rows < 1 || args.columns < 1) {
    return LaunchStatus::kBadArgument;
  }
  const std::int64_t at_once = kGemvAlignment / (args.type == ElementType::kFp32 ? 4 : 2);
  if (!is_aligned_row(args.matrix) || !is_aligned_row(args.input) || args.columns % at_once != 0 ||
      (args.output_type != args.type && (args.gated || args.output_type != ElementType::kFp32)) || (args.gated && !is_known(*args.gated))) {
    return LaunchStatus::kBadArgument;
  }
  const bool counts = args.rows <= kMaxGemvSide && args.columns <= kMaxGemvSide;
  return counts ? LaunchStatus::kOk : LaunchStatus::kUnsupported;
}

}  // namespace winnow::kernels
