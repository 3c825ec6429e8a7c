// Cross-modal attention entropy on an NVIDIA GPU: how diffusely some rows attend to some columns, by softmaxes over these columns only.
//
// Used by engine/compression for MEDA (through engine/cuda_plugin): text rows with visual columns, and visual rows with text columns.
// Implemented in kernels/cuda/cross_modal_entropy.cu; products as in cuda_logits.h, and the matrix is never stored. Sums follow the order
// of parts and tiles: the same inputs give the same bits. Never throws, never allocates, does not wait for the device; four launches.
// kBadArgument: a missing pointer, a workspace that is not aligned to 8 bytes, a size below its minimum, more parts than kMaxCudaGridSide,
// an unknown element type. kUnsupported: more than the limits in cuda_logits.h and element_type.h, or more than kMaxCudaLogitSide rows of a
// group. kDeviceError: the launch failed. A NaN or infinite logit makes the entropy NaN.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_logits.h"

namespace winnow::kernels {

// rows and columns count the lists below; a row sees the first columns of its list. parts: cuda_logit_parts() of columns across rows, of
// one head. A row that sees no column adds nothing.
struct CudaCrossModalArgs : CudaSeenLogits {
  const std::int32_t* row_of = nullptr;     // [rows], rows of query
  const std::int32_t* column_of = nullptr;  // [columns], rows of key
  bool mean_first = true;                   // the entropy of the heads' mean; false: the mean of the heads' entropies
  double* entropy = nullptr;                // [1]: -sum p ln p over all rows, natural log; added to
  void* workspace = nullptr;                // cuda_cross_modal_workspace() bytes
};

// Bytes for every part's log-sum-exp of a row and entropy of a tile. Reads sizes and parts.
inline std::int64_t cuda_cross_modal_workspace(const CudaCrossModalArgs& args) {
  const std::int64_t tiles = (args.rows + kCudaLogitTile - 1) / kCudaLogitTile;
  return 8 * args.parts * tiles + 4 * (2 * args.parts + 1) * args.kv_heads * args.group * args.rows;
}

// All pointers host memory; the workspace is not used.
LaunchStatus cuda_cross_modal_entropy_reference(const CudaCrossModalArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_cross_modal_entropy(const CudaCrossModalArgs& args, void* stream);

}  // namespace winnow::kernels
