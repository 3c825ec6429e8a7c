// Sparsity of attention rows on an NVIDIA GPU: each row's largest logit, then how many of its logits are a given distance below it.
//
// Used by engine/compression for VL-Cache (through engine/cuda_plugin), which counts probabilities below p times the row's largest, that is
// logits below the row's largest + ln p. Implemented in kernels/cuda/row_sparsity.cu; products as in cuda_logits.h, and the matrix is never
// stored. Maxima and counts do not depend on order: the same inputs give the same bits. Never throws, never allocates, does not wait for
// the device; one launch each, without a workspace. kBadArgument: a missing pointer, a size below its minimum, more parts than
// kMaxCudaGridSide, an unknown element type. kUnsupported: more than the limits in cuda_logits.h and element_type.h, or more than
// kMaxCudaLogitSide rows of a group. kDeviceError: the launch failed. A NaN logit makes its row's maximum NaN, and such a row counts
// nothing.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_logits.h"

namespace winnow::kernels {

struct CudaRowMaximaArgs : CudaSeenLogits {
  float* maxima = nullptr;  // query head h, row r at [h * maxima_stride + r]; raised to the row's largest logit
  std::int64_t maxima_stride = 0;
};

struct CudaCountBelowArgs : CudaSeenLogits {
  const float* maxima = nullptr;  // as above
  std::int64_t maxima_stride = 0;
  float below = 0.0F;              // logits less than the row's maximum + below count
  std::int64_t* counts = nullptr;  // [kv_heads * group], over all rows; added to
};

// All pointers host memory.
LaunchStatus cuda_row_maxima_reference(const CudaRowMaximaArgs& args);
LaunchStatus cuda_count_below_reference(const CudaCountBelowArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_row_maxima(const CudaRowMaximaArgs& args, void* stream);
LaunchStatus cuda_count_below(const CudaCountBelowArgs& args, void* stream);

}  // namespace winnow::kernels
