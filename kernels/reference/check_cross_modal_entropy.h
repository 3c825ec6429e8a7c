// The argument rules of entropies over some columns, the same for every implementation.
#pragma once

#include "kernels/api/cuda_cross_modal_entropy.h"
#include "kernels/reference/check_cuda_logits.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const CudaCrossModalArgs& args) {
  return check_seen_logits(args, args.row_of != nullptr && args.column_of != nullptr && args.entropy != nullptr &&
                                     args.workspace != nullptr && reinterpret_cast<std::uintptr_t>(args.workspace) % alignof(double) == 0);
}

}  // namespace winnow::kernels
