// How diffuse some rows look at some columns, on an NVIDIA GPU: the entropies of softmaxes that are restricted to these columns.
//
// Used by engine/compression for MEDA (through engine/cuda_plugin), whose rows are text and whose columns are visual, and the other way
// round. Implemented in kernels/cuda/cross_modal_entropy.cu; products as in cuda_logits.h, nothing of the matrix is stored. Sums are taken
// in the order of parts and tiles: the same inputs give the same bits. Never throws, never allocates, does not wait for the device; four
// launches. kBadArgument: a missing pointer, a workspace that is not aligned to 8 bytes, a size below its least, more parts than
// kMaxCudaGridSide, an unknown element type. kUnsupported: more than the limits in cuda_logits.h and element_type.h, or more than
// kMaxCudaLogitSide rows of a group. kDeviceError: the launch failed. Damage stays visible: a logit that is NaN or infinite makes the
// entropy NaN.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_logits.h"

namespace winnow::kernels {

// rows and columns are how many are listed, and what a row sees are the first of the list. parts: cuda_logit_parts() of columns across
// rows, of one head. A row that sees none adds nothing.
struct CudaCrossModalArgs : CudaSeenLogits {
  const std::int32_t* row_of = nullptr;     // [rows]: which row of query each is
  const std::int32_t* column_of = nullptr;  // [columns]: likewise of key
  bool mean_first = true;                   // the entropy of the mean over all query heads; false: the mean of every head's entropy
  double* entropy = nullptr;                // [1]: -sum p ln p over all rows, natural log; added to
  void* workspace = nullptr;                // cuda_cross_modal_workspace() bytes
};

// Bytes: what every part gives of a row's log-sum-exp and of a tile's entropy. Reads sizes and parts.
inline std::int64_t cuda_cross_modal_workspace(const CudaCrossModalArgs& args) {
  const std::int64_t tiles = (args.rows + kCudaLogitTile - 1) / kCudaLogitTile;
  return 8 * args.parts * tiles + 4 * (2 * args.parts + 1) * args.kv_heads * args.group * args.rows;
}

// All pointers host memory; nothing is read or written in the workspace.
LaunchStatus cuda_cross_modal_entropy_reference(const CudaCrossModalArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_cross_modal_entropy(const CudaCrossModalArgs& args, void* stream);

}  // namespace winnow::kernels
