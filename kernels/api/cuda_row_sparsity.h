// How sparse rows of attention are, on an NVIDIA GPU: every row's largest logit, then how many of its logits lie a given distance below it.
//
// Used by engine/compression for VL-Cache (through engine/cuda_plugin), which counts the probabilities below p times their row's greatest:
// those with a logit below the row's greatest + ln p. Implemented in kernels/cuda/row_sparsity.cu; products as in cuda_logits.h, nothing of
// the matrix is stored. Maxima and whole numbers have no order, so that the same inputs give the same bits. Never throws, never allocates,
// does not wait for the device; a launch each, without a workspace. kBadArgument: a missing pointer, a size below its least, more parts
// than kMaxCudaGridSide, an unknown element type. kUnsupported: more than the limits in cuda_logits.h and element_type.h, or more than
// kMaxCudaLogitSide rows of a group. kDeviceError: the launch failed. Damage stays visible: a logit that is NaN makes its row's maximum
// NaN; of such a row nothing is counted.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_logits.h"

namespace winnow::kernels {

struct CudaRowMaximaArgs : CudaSeenLogits {
  float* maxima = nullptr;  // of query head h and row r: [h * maxima_stride + r]; raised to the row's largest logit
  std::int64_t maxima_stride = 0;
};

struct CudaCountBelowArgs : CudaSeenLogits {
  const float* maxima = nullptr;  // as above
  std::int64_t maxima_stride = 0;
  float below = 0.0F;              // a logit counts that is less than its row's maximum + below
  std::int64_t* counts = nullptr;  // [kv_heads * group]: over all rows and what they see; added to
};

// All pointers host memory.
LaunchStatus cuda_row_maxima_reference(const CudaRowMaximaArgs& args);
LaunchStatus cuda_count_below_reference(const CudaCountBelowArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_row_maxima(const CudaRowMaximaArgs& args, void* stream);
LaunchStatus cuda_count_below(const CudaCountBelowArgs& args, void* stream);

}  // namespace winnow::kernels
