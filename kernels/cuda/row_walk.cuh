// A thread block's way along rows of logits, a tile of 64 at a time (logit_tile.cuh). Device code, used by row_sparsity.cuh and
// cross_modal_entropy.cu.
//
// Rows are told with their query heads: item row * group + head of the group, so that the heads of a few rows fill a tile together. One
// thread block per (tile of items, KV head, part of the columns), which are blockIdx.x, y and z.
#pragma once

#include <algorithm>

#include "kernels/cuda/logit_tile.cuh"

namespace winnow::kernels::cuda {

struct RowWalkLaunch : LogitsLaunch {
  const std::int32_t* row_of;     // the query row of each row; null: the same index
  const std::int32_t* column_of;  // likewise of key
  const std::int32_t* seen;       // as CudaSeenLogits::seen
  int seen_by_first;              // within [-rows, columns]
  int tiles;                      // of items
  int parts;
  int part_columns;  // a multiple of kLogitTile
};

// rows * group are counted in 32 bits; there are rows and columns.
inline RowWalkLaunch plan_rows(const CudaSeenLogits& args) {
  RowWalkLaunch launch = {};
  static_cast<LogitsLaunch&>(launch) = plan_logits(args);
  launch.seen = args.seen;
  launch.seen_by_first = static_cast<int>(std::clamp(args.seen_by_first, -args.rows, args.columns));
  launch.tiles = (launch.rows * launch.group - 1) / kLogitTile + 1;
  launch.part_columns = part_length(args.columns, args.parts);
  launch.parts = (launch.columns - 1) / launch.part_columns + 1;
  return launch;
}

// The block's items, in shared memory.
struct ItemTile {
  std::int64_t offsets[kLogitTile];  // elements from the first query to the item's
  int seen[kLogitTile];              // columns; 0 where no item is
};

__device__ inline int columns_seen(const RowWalkLaunch& args, int row) {
  return max(0, min(args.columns, args.seen != nullptr ? args.seen[row] : args.seen_by_first + row));
}

// Elements from a head's first query to the row's, and from its first key to the column's.
__device__ inline std::int64_t row_offset(const RowWalkLaunch& args, int row) {
  return (args.row_of != nullptr ? args.row_of[row] : row) * args.query_row_stride;
}
__device__ inline std::int64_t column_offset(const RowWalkLaunch& args, int column) {
  return (args.column_of != nullptr ? args.column_of[column] : column) * args.key_row_stride;
}

// The end of the part that begins at `begin`, or earlier if no row sees as far.
__device__ inline int part_end(const RowWalkLaunch& args, int begin, int seen) {
  return min(seen, min(args.columns - begin, args.part_columns) + begin);
}

__device__ inline int first_item() { return static_cast<int>(blockIdx.x) * kLogitTile; }
__device__ inline int items_here(const RowWalkLaunch& args) { return min(kLogitTile, args.rows * args.group - first_item()); }
// Query head and row of the block's item i.
__device__ inline int head_of(const RowWalkLaunch& args, int i) {
  return static_cast<int>(blockIdx.y) * args.group + (first_item() + i) % args.group;
}
__device__ inline int row_at(const RowWalkLaunch& args, int i) { return (first_item() + i) / args.group; }

// Calls visit(logits, first column) for every tile of columns in the block's part that some of its items see; of a thread's logits those
// are seen whose column is less than seen[] of their row. All threads of the block.
template <class T, int kVector, class Visit>
__device__ inline void walk_columns(const RowWalkLaunch& args, TileOperands& operands, ItemTile& items, const Visit& visit) {
  const int thread = static_cast<int>(threadIdx.x);
  const int count = items_here(args);
  if (thread < kLogitTile) {
    const bool is_there = thread < count;
    items.offsets[thread] = is_there ? head_of(args, thread) * args.query_head_stride + row_offset(args, row_at(args, thread)) : 0;
    items.seen[thread] = is_there ? columns_seen(args, row_at(args, thread)) : 0;
  }
  const int begin = static_cast<int>(blockIdx.z) * args.part_columns;
  const int end = part_end(args, begin, columns_seen(args, row_at(args, count - 1)));
  const T* const query = static_cast<const T*>(args.query);
  const T* const key = static_cast<const T*>(args.key) + blockIdx.y * args.key_head_stride;
  for (int first = begin; first < end; first += kLogitTile) {
    float logits[kLogitRows][kLogitColumns];
    multiply<T, kVector>(TileRows{[&](int i) { return query + items.offsets[i]; }, count},
                         TileRows{[&](int i) { return key + column_offset(args, first + i); }, end - first}, args.head_dim, operands,
                         logits);
#pragma unroll
    for (int r = 0; r < kLogitRows; ++r) {
#pragma unroll
      for (int c = 0; c < kLogitColumns; ++c) logits[r][c] *= args.scale;
    }
    visit(logits, first);
  }
}

}  // namespace winnow::kernels::cuda
