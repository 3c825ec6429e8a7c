// Common arguments of attention statistics on an NVIDIA GPU: a layer's queries and keys, whose logits are recomputed in tiles and never
// stored.
//
// Base of the arguments of cuda_column_sums.h, cuda_row_sparsity.h and cuda_cross_modal_entropy.h. Pointers are device memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kCudaLogitTile = 64;                // rows and columns of a thread block's tile
inline constexpr std::int64_t kMaxCudaLogitSide = 1'000'000'000;  // rows and columns are counted in 32 bits
inline constexpr std::int64_t kMaxCudaGridSide = 65535;           // of thread blocks: KV heads times (group + 1), and parts

// The logit of a query row and a column is scale * (query . key); elements are upcast to fp32 and summed in fp32.
struct CudaLogits {
  ElementType type = ElementType::kFp32;  // of query and key
  // Element i of query head h and row r is query[h * query_head_stride + r * query_row_stride + i]; strides in elements.
  const void* query = nullptr;
  std::int64_t query_head_stride = 0;
  std::int64_t query_row_stride = 0;
  std::int64_t kv_heads = 0;
  std::int64_t group = 0;  // query heads of a KV head, contiguous
  std::int64_t rows = 0;
  const void* key = nullptr;  // KV head k, column j: key[k * key_head_stride + j * key_row_stride + i]
  std::int64_t key_head_stride = 0;
  std::int64_t key_row_stride = 0;
  std::int64_t columns = 0;
  std::int64_t head_dim = 0;
  float scale = 1.0F;
};

// Rows and the columns that they see, for statistics along rows.
struct CudaSeenLogits : CudaLogits {
  // Causal: row r sees the first seen_by_first + r columns. Every row sees all if this is at least `columns`. May be negative.
  std::int64_t seen_by_first = 0;
  const std::int32_t* seen = nullptr;  // instead: how many of the first columns each row sees, never decreasing
  std::int64_t parts = 1;              // most parts that the columns are split into: cuda_logit_parts() of columns across rows * group
};

// Parts of one side of the matrix (`length`) when thread blocks own tiles of the other side (`across`) of every head. Enough for
// `thread_blocks` on every multiprocessor, none shorter than a tile.
inline std::int64_t cuda_logit_parts(std::int64_t length, std::int64_t across, std::int64_t heads, std::int64_t multiprocessors,
                                     std::int64_t thread_blocks = 4) {
  const std::int64_t blocks_per_part = std::max<std::int64_t>(1, (across + kCudaLogitTile - 1) / kCudaLogitTile * heads);
  const std::int64_t wanted = (thread_blocks * multiprocessors + blocks_per_part - 1) / blocks_per_part;
  return std::clamp<std::int64_t>((length + kCudaLogitTile - 1) / kCudaLogitTile, 1, std::clamp<std::int64_t>(wanted, 1, kMaxCudaGridSide));
}

}  // namespace winnow::kernels
