// A tile of logits: 64 rows x 64 columns of products in registers, 8 rows x 4 columns a thread, whose operands go through shared memory 32
// elements at a time. Device code, used by column_sums.cuh, row_walk.cuh and cross_modal_entropy.cu; and what their launches have in
// common.
#pragma once

#include "kernels/api/cuda_logits.h"
#include "kernels/cuda/element.cuh"

namespace winnow::kernels::cuda {

constexpr int kLogitTile = static_cast<int>(kCudaLogitTile);
constexpr int kLogitThreads = 128;
constexpr int kLogitWarps = kLogitThreads / 32;
constexpr int kLogitDepth = 32;                             // elements of a head that lie in shared memory at a time
constexpr int kLogitRows = 8;                               // of a thread
constexpr int kLogitColumns = 4;                            // of a thread
constexpr int kLogitRowGroup = kLogitTile / kLogitColumns;  // threads that share their rows, neighbours
static_assert(kLogitThreads == kLogitRowGroup * (kLogitTile / kLogitRows));

struct LogitsLaunch {
  const void* query;
  std::int64_t query_head_stride;
  std::int64_t query_row_stride;
  const void* key;
  std::int64_t key_head_stride;
  std::int64_t key_row_stride;
  float scale;
  int kv_heads;
  int group;
  int rows;
  int columns;
  int head_dim;
};

inline LogitsLaunch plan_logits(const CudaLogits& args) {
  return {args.query,
          args.query_head_stride,
          args.query_row_stride,
          args.key,
          args.key_head_stride,
          args.key_row_stride,
          args.scale,
          static_cast<int>(args.kv_heads),
          static_cast<int>(args.group),
          static_cast<int>(args.rows),
          static_cast<int>(args.columns),
          static_cast<int>(args.head_dim)};
}

// Rows or columns of every part of `length` but the last: whole tiles, so that `parts` of them cover it.
inline int part_length(std::int64_t length, std::int64_t parts) {
  const std::int64_t share = (length + parts - 1) / parts;
  return static_cast<int>((share + kLogitTile - 1) / kLogitTile * kLogitTile);
}

// True if kWidest adjacent elements can be read at once: every row begins at a multiple of 16 bytes.
template <class T>
bool reads_vectors(const CudaLogits& args) {
  return args.head_dim % kWidest<T> == 0 && args.query_head_stride % kWidest<T> == 0 && args.query_row_stride % kWidest<T> == 0 &&
         args.key_head_stride % kWidest<T> == 0 && args.key_row_stride % kWidest<T> == 0 && is_aligned(args.query) && is_aligned(args.key);
}

// The first `count` rows of a tile's operand (no more than kLogitTile are taken): row i begins at at(i).
template <class At>
struct TileRows {
  At at;
  int count;
};
template <class At>
TileRows(At, int) -> TileRows<At>;

struct TileOperands {
  alignas(16) float queries[kLogitDepth * kLogitTile];
  alignas(16) float keys[kLogitDepth * kLogitTile];
};

// The place of element k of row `row` in a tile. Neighbouring threads write rows and pieces of rows that differ; with the row's place moved
// by the piece they meet different banks, and four rows from a multiple of four on stay side by side. Within a piece an element lies
// kLogitTile behind the one before it.
template <int kVector>
inline constexpr int kLogitPiece = kVector < 4 ? 4 : kVector;
template <int kVector>
__device__ inline int tile_place(int k, int row) {
  return k * kLogitTile + (row ^ (k / kLogitPiece<kVector> * kLogitPiece<kVector>));
}

// Elements [first, first + depth) of the rows, upcast; zeros where there are none.
template <class T, int kVector, class At>
__device__ inline void take_rows(const TileRows<At>& rows, int first, int depth, float* tile) {
  constexpr int kPieces = kLogitDepth / kVector;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < kLogitTile * kPieces; i += kLogitThreads) {
    const int row = i / kPieces;
    const int k = i % kPieces * kVector;
    const bool is_there = row < rows.count && k < depth;
    Pack<T, kVector> piece = {};
    if (is_there) piece = load<kVector>(static_cast<const T*>(rows.at(row)) + first + k);
#pragma unroll
    for (int v = 0; v < kVector; ++v) tile[tile_place<kVector>(k + v, row)] = upcast(piece.values[v]);
  }
}

// The first row and column of this thread's products within the tile.
__device__ inline int tile_row() { return static_cast<int>(threadIdx.x) / kLogitRowGroup * kLogitRows; }
__device__ inline int tile_column() { return static_cast<int>(threadIdx.x) % kLogitRowGroup * kLogitColumns; }

// Products of this thread's rows and columns of the tile, not yet scaled. All threads of the block.
// kVector: elements of Q and K per load; 1 if rows are not aligned.
template <class T, int kVector, class QueryAt, class KeyAt>
__device__ inline void multiply(const TileRows<QueryAt>& queries, const TileRows<KeyAt>& keys, int head_dim, TileOperands& operands,
                                float (&products)[kLogitRows][kLogitColumns]) {
  const int row = tile_row();
  const int column = tile_column();
#pragma unroll
  for (int r = 0; r < kLogitRows; ++r) {
#pragma unroll
    for (int c = 0; c < kLogitColumns; ++c) products[r][c] = 0.0F;
  }
  for (int first = 0; first < head_dim; first += kLogitDepth) {
    const int depth = min(kLogitDepth, head_dim - first);
    __syncthreads();
    take_rows<T, kVector>(queries, first, depth, operands.queries);
    take_rows<T, kVector>(keys, first, depth, operands.keys);
    __syncthreads();
    for (int k = 0; k < depth; k += kLogitPiece<kVector>) {
      const float* const right_piece = operands.keys + tile_place<kVector>(k, column);
      const float* const upper_piece = operands.queries + tile_place<kVector>(k, row);
      const float* const lower_piece = operands.queries + tile_place<kVector>(k, row + 4);
#pragma unroll
      for (int step = 0; step < kLogitPiece<kVector>; ++step) {
        const Pack<float, 4> right = load<4>(right_piece + step * kLogitTile);
        const Pack<float, 4> upper = load<4>(upper_piece + step * kLogitTile);
        const Pack<float, 4> lower = load<4>(lower_piece + step * kLogitTile);
#pragma unroll
        for (int c = 0; c < kLogitColumns; ++c) {
#pragma unroll
          for (int r = 0; r < 4; ++r) {
            products[r][c] = fmaf(upper.values[r], right.values[c], products[r][c]);
            products[r + 4][c] = fmaf(lower.values[r], right.values[c], products[r + 4][c]);
          }
        }
      }
    }
  }
}

}  // namespace winnow::kernels::cuda
