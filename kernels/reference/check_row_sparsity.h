// The argument rules of a row's largest logit and of counts below it, the same for every implementation.
#pragma once

#include "kernels/api/cuda_row_sparsity.h"
#include "kernels/reference/check_cuda_logits.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const CudaRowMaximaArgs& args) { return check_seen_logits(args, args.maxima != nullptr); }

inline LaunchStatus check_arguments(const CudaCountBelowArgs& args) {
  return check_seen_logits(args, args.maxima != nullptr && args.counts != nullptr);
}

}  // namespace winnow::kernels
