// Entropies over some columns: device code and launch. Tests run both on CPU threads, too (tests/kernels/cuda_on_cpu.h).
//
// sum_rows: walks the rows as row_walk.cuh says and leaves of every query head's row its largest logit in the part and the sum of
// exponentials beside it. join_rows: the log-sum-exp of all parts. add_entropies: one thread block per (tile of 64 rows, part of the
// columns); it walks the part's columns, 64 at a time, all query heads for each, because the mean over the heads comes before the
// logarithm. add_tiles: adds what the blocks have found, in their order.
#include "kernels/api/cuda_cross_modal_entropy.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/row_walk.cuh"
#include "kernels/reference/check_statistics.h"

namespace winnow::kernels::cuda {

constexpr int kJoinThreads = 256;

struct CrossModalLaunch : RowWalkLaunch {
  bool mean_first;
  int row_tiles;
  double* part_entropy;  // [parts, row_tiles]
  float* part_maxima;    // [parts, heads, rows]
  float* part_sums;      // [parts, heads, rows]
  float* log_sum_exp;    // [heads, rows]
  double* entropy;
};

// args have been checked, and there are rows and columns.
inline CrossModalLaunch plan_launch(const CudaCrossModalArgs& args) {
  CrossModalLaunch launch = {};
  static_cast<RowWalkLaunch&>(launch) = plan_rows(args);
  launch.row_of = args.row_of;
  launch.column_of = args.column_of;
  launch.mean_first = args.mean_first;
  launch.row_tiles = (launch.rows - 1) / kLogitTile + 1;
  launch.part_entropy = static_cast<double*>(args.workspace);
  const std::int64_t rows = args.kv_heads * args.group * args.rows;
  launch.part_maxima = reinterpret_cast<float*>(launch.part_entropy + static_cast<std::int64_t>(launch.parts) * launch.row_tiles);
  launch.part_sums = launch.part_maxima + launch.parts * rows;
  launch.log_sum_exp = launch.part_sums + launch.parts * rows;
  launch.entropy = args.entropy;
  return launch;
}

// A sum of exponentials, relative to its largest exponent.
struct ExponentialSum {
  float highest = -3.4e38F;  // finite, so that two of nothing can be added
  float sum = 0.0F;
};

__device__ inline ExponentialSum added(ExponentialSum a, ExponentialSum b) {
  const float highest = fmaxf(a.highest, b.highest);
  return {highest, a.sum * expf(a.highest - highest) + b.sum * expf(b.highest - highest)};
}

// kVector: as multiply()'s.
template <class T, int kVector>
__global__ void __launch_bounds__(kLogitThreads, 4) sum_rows(CrossModalLaunch args) {
  __shared__ TileOperands operands;
  __shared__ ItemTile items;
  const int row = tile_row();
  const int column = tile_column();
  ExponentialSum sums[kLogitRows];
  walk_columns<T, kVector>(args, operands, items, [&](const float(&logits)[kLogitRows][kLogitColumns], int first) {
#pragma unroll
    for (int r = 0; r < kLogitRows; ++r) {
      const int seen = items.seen[row + r] - first - column;
      float highest = sums[r].highest;
#pragma unroll
      for (int c = 0; c < kLogitColumns; ++c) highest = c < seen ? fmaxf(highest, logits[r][c]) : highest;
      float sum = sums[r].sum * expf(sums[r].highest - highest);
#pragma unroll
      for (int c = 0; c < kLogitColumns; ++c) sum += c < seen ? expf(logits[r][c] - highest) : 0.0F;
      sums[r] = {highest, sum};
    }
  });
  const std::int64_t part_rows = static_cast<std::int64_t>(args.kv_heads) * args.group * args.rows;
#pragma unroll
  for (int r = 0; r < kLogitRows; ++r) {
#pragma unroll
    for (int step = kLogitRowGroup / 2; step > 0; step /= 2) {
      const float highest = __shfl_xor_sync(0xFFFFFFFFU, sums[r].highest, step);
      const float sum = __shfl_xor_sync(0xFFFFFFFFU, sums[r].sum, step);
      sums[r] = added(sums[r], {highest, sum});
    }
    if (column == 0 && row + r < items_here(args)) {
      const std::int64_t at =
          blockIdx.z * part_rows + static_cast<std::int64_t>(head_of(args, row + r)) * args.rows + row_at(args, row + r);
      args.part_maxima[at] = sums[r].highest;
      args.part_sums[at] = sums[r].sum;
    }
  }
}

// A thread per row; blockIdx.y: a query head.
static __global__ void __launch_bounds__(kJoinThreads) join_rows(CrossModalLaunch args) {
  const int row = static_cast<int>(blockIdx.x) * kJoinThreads + static_cast<int>(threadIdx.x);
  if (row >= args.rows) return;
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.y) * args.rows + row;
  const std::int64_t part_rows = static_cast<std::int64_t>(args.kv_heads) * args.group * args.rows;
  ExponentialSum all;
  for (int part = 0; part < args.parts; ++part) {
    all = added(all, {args.part_maxima[part * part_rows + at], args.part_sums[part * part_rows + at]});
  }
  args.log_sum_exp[at] = all.highest + logf(all.sum);
}

// kVector: as multiply()'s.
template <class T, int kVector>
__global__ void __launch_bounds__(kLogitThreads, 4) add_entropies(CrossModalLaunch args) {
  __shared__ TileOperands operands;
  __shared__ std::int64_t offsets[kLogitTile];  // elements from a head's first query to the row's
  __shared__ int seen_by[kLogitTile];
  __shared__ double sums[kLogitThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int row = tile_row();
  const int column = tile_column();
  const int first_row = static_cast<int>(blockIdx.x) * kLogitTile;
  const int part = static_cast<int>(blockIdx.y);
  const int rows = min(kLogitTile, args.rows - first_row);
  if (thread < kLogitTile) {
    offsets[thread] = thread < rows ? row_offset(args, first_row + thread) : 0;
    seen_by[thread] = thread < rows ? columns_seen(args, first_row + thread) : 0;
  }
  const int heads = args.kv_heads * args.group;
  const float share = 1.0F / static_cast<float>(heads);
  const int begin = part * args.part_columns;
  const int end = part_end(args, begin, columns_seen(args, first_row + rows - 1));
  double all = 0.0;
  for (int first = begin; first < end; first += kLogitTile) {
    float means[kLogitRows][kLogitColumns] = {};
    float of_heads = 0.0F;
    for (int head = 0; head < heads; ++head) {
      const T* const query = static_cast<const T*>(args.query) + head * args.query_head_stride;
      const T* const key = static_cast<const T*>(args.key) + head / args.group * args.key_head_stride;
      float products[kLogitRows][kLogitColumns];
      multiply<T, kVector>(TileRows{[&](int i) { return query + offsets[i]; }, rows},
                           TileRows{[&](int i) { return key + column_offset(args, first + i); }, end - first}, args.head_dim, operands,
                           products);
      const float* const log_sum_exp = args.log_sum_exp + static_cast<std::int64_t>(head) * args.rows + first_row;
#pragma unroll
      for (int r = 0; r < kLogitRows; ++r) {
        const int seen = seen_by[row + r] - first - column;
        const float whole = seen > 0 ? log_sum_exp[row + r] : 0.0F;
#pragma unroll
        for (int c = 0; c < kLogitColumns; ++c) {
          const float log_probability = fmaf(products[r][c], args.scale, -whole);
          const float probability = c < seen ? expf(log_probability) : 0.0F;
          means[r][c] += probability;
          if (probability != 0.0F) of_heads = fmaf(-probability, log_probability, of_heads);
        }
      }
    }
    float of_mean = 0.0F;
    if (args.mean_first) {
#pragma unroll
      for (int r = 0; r < kLogitRows; ++r) {
#pragma unroll
        for (int c = 0; c < kLogitColumns; ++c) {
          const float mean = means[r][c] * share;
          if (mean != 0.0F) of_mean = fmaf(-mean, logf(mean), of_mean);
        }
      }
    }
    all += static_cast<double>(args.mean_first ? of_mean : of_heads * share);
  }
  sums[thread] = all;
  for (int half = kLogitThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] += sums[thread + half];
  }
  if (thread == 0) args.part_entropy[static_cast<std::int64_t>(part) * args.row_tiles + blockIdx.x] = sums[0];
}

// One thread block.
static __global__ void __launch_bounds__(kJoinThreads) add_tiles(CrossModalLaunch args) {
  __shared__ double sums[kJoinThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t count = static_cast<std::int64_t>(args.parts) * args.row_tiles;
  double own = 0.0;
  for (std::int64_t i = thread; i < count; i += kJoinThreads) own += args.part_entropy[i];
  sums[thread] = own;
  for (int half = kJoinThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] += sums[thread + half];
  }
  if (thread == 0) *args.entropy += sums[0];
}

}  // namespace winnow::kernels::cuda

namespace winnow::kernels {

namespace {

template <class T, int kVector>
void launch_walks(const cuda::CrossModalLaunch& launch, void* stream) {
  const auto parts = static_cast<unsigned>(launch.parts);
  const cuda::Grid items(static_cast<unsigned>(launch.tiles), static_cast<unsigned>(launch.kv_heads), parts);
  cuda::launch_kernel(cuda::sum_rows<T, kVector>, items, cuda::kLogitThreads, stream, launch);
  const cuda::Grid rows(static_cast<unsigned>((launch.rows + cuda::kJoinThreads - 1) / cuda::kJoinThreads),
                        static_cast<unsigned>(launch.kv_heads * launch.group));
  cuda::launch_kernel(cuda::join_rows, rows, cuda::kJoinThreads, stream, launch);
  cuda::launch_kernel(cuda::add_entropies<T, kVector>, cuda::Grid(static_cast<unsigned>(launch.row_tiles), parts), cuda::kLogitThreads,
                      stream, launch);
  cuda::launch_kernel(cuda::add_tiles, 1, cuda::kJoinThreads, stream, launch);
}

}  // namespace

LaunchStatus cuda_cross_modal_entropy(const CudaCrossModalArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.rows == 0 || args.columns == 0) return LaunchStatus::kOk;
  const cuda::CrossModalLaunch launch = cuda::plan_launch(args);
  cuda::for_type(args.type, [&](auto element) {
    using T = decltype(element);
    if (cuda::reads_vectors<T>(args)) {
      launch_walks<T, cuda::kWidest<T>>(launch, stream);
    } else {
      launch_walks<T, 1>(launch, stream);
    }
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
