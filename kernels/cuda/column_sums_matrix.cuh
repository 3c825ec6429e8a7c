// The device code of column sums on tensor cores, for 16-bit queries and keys. Launched by column_sums.cu, run on CPU threads in tests
// (tests/kernels/cuda_on_cpu.h).
//
// sum_columns_by_matrix: a thread block has 128 columns of a KV head and a part of the rows, each warp a strip of 32 columns, whose keys
// stay in registers as the left matrix. Query rows pass by, 32 at a time, all heads of the group for each, copied into shared memory one or
// two steps ahead. Every byte of a query is read from there once for 32 columns, and from the cache once for 128. A strip's sums are its
// warp's alone, so that warps meet at one barrier a step only. add_parts (column_sums.cuh) adds the parts.
//
// The order of a product's elements is free: of every 32 elements a lane holds 8 neighbours of a row, one load of 16 bytes, and both
// matrices take them in the same order. Elements beyond the head's size are zeros.
#pragma once

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/tensor_core.cuh"

namespace winnow::kernels::cuda {

constexpr int kStripColumns = static_cast<int>(kCudaSumStrip);  // of a warp: two of the tensor cores' tiles of 16
static_assert(kStripColumns == 32);
constexpr int kStripRows = 32;  // of a step: four of the tensor cores' tiles of 8
constexpr int kStripWarps = 4;
constexpr int kStripThreads = 32 * kStripWarps;
static_assert(kStripThreads == 4 * kStripRows, "a quad of lanes copies a row");
constexpr int kStripsColumns = kStripColumns * kStripWarps;  // of a thread block
constexpr int kStripDepth = 32;                              // elements of a head that a quad of lanes has from one load each
constexpr int kMostChunks = 8;
constexpr float kLog2E = 1.44269504F;
constexpr float kLn2 = 0.69314718F;
constexpr float kNoLog2 = -200.0F;  // 2 to the power of it is 0

// The values of a query head that a step needs.
template <int kChunks>
struct alignas(16) QueryRows {
  static constexpr int kPieces = kStripDepth / 8 * kChunks;  // of a row, 16 bytes each

  Pack<std::uint16_t, 8> pieces[kStripRows * kPieces];
  float log_sum_exp[kStripRows];

  // Lanes read a chunk, which is half of the banks, of two rows at a time: these lie in different halves.
  static __device__ int place(int row, int piece) { return row * kPieces + (kChunks % 2 == 0 ? piece ^ (row % 2 * 4) : piece); }
};

// Steps under way, the one that is multiplied among them: as many as 48 KiB hold.
template <int kChunks>
inline constexpr int kQuerySteps = kChunks > 4 ? 2 : 3;
// Units of 8 rows that are multiplied together, and thread blocks that a multiprocessor holds at the least (0: three come out, or two, and
// nothing is spilled): as registers allow.
template <int kChunks>
inline constexpr int kEights = kChunks > 4 ? 1 : 2;
template <int kChunks>
inline constexpr int kStripBlocks = kChunks > 3 ? 0 : 6 - kChunks;

template <class T>
bool fits_tensor_cores(const CudaColumnSumsArgs& args) {
  return sizeof(T) == 2 && reads_vectors<T>(args) && args.head_dim <= kStripDepth * kMostChunks;
}

// Thread blocks side by side; launch.tiles are strips.
inline unsigned strip_blocks(const ColumnSumsLaunch& launch) {
  return static_cast<unsigned>((launch.tiles + kStripWarps - 1) / kStripWarps);
}

// Calls launch(chunks, more), whose types say which version is launched. more: squares or entropies are wanted.
template <class Launch>
void for_strips(const CudaColumnSumsArgs& args, const Launch& launch) {
  const auto with_chunks = [&](auto chunks) {
    args.squares != nullptr || args.entropy != nullptr ? launch(chunks, std::true_type{}) : launch(chunks, std::false_type{});
  };
  if (args.head_dim <= 2 * kStripDepth) return with_chunks(std::integral_constant<int, 2>{});
  if (args.head_dim <= 3 * kStripDepth) return with_chunks(std::integral_constant<int, 3>{});
  if (args.head_dim <= 4 * kStripDepth) return with_chunks(std::integral_constant<int, 4>{});
  with_chunks(std::integral_constant<int, kMostChunks>{});
}

// For four values a lane, the sum over the four lanes of a quad: of value t in lane t.
__device__ inline float quad_sum(const float (&values)[4]) {
  const int t = static_cast<int>(threadIdx.x) % 4;
  float kept[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float given = t < 2 ? values[i + 2] : values[i];
    kept[i] = (t < 2 ? values[i] : values[i + 2]) + __shfl_xor_sync(0xFFFFFFFFU, given, 2);
  }
  const float given = t % 2 == 0 ? kept[1] : kept[0];
  return (t % 2 == 0 ? kept[0] : kept[1]) + __shfl_xor_sync(0xFFFFFFFFU, given, 1);
}

// A strip's keys as the left matrix of every chunk's two products: rows are columns of the attention. Zeros where there are none.
template <class T, int kChunks>
__device__ inline void take_keys(const ColumnSumsLaunch& args, int kv_head, int first_column, unsigned (&keys)[kChunks][2][2][4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int eight = 0; eight < 4; ++eight) {
    const int column = first_column + eight * 8 + lane / 4;
    const T* const key = static_cast<const T*>(args.key) + kv_head * args.key_head_stride + column * args.key_row_stride;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const int k = chunk * kStripDepth + lane % 4 * 8;
      Pack<unsigned, 4> pairs = {};
      if (column < args.columns && k < args.head_dim) pairs = load<4>(reinterpret_cast<const unsigned*>(key + k));
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) keys[chunk][pair / 2][eight / 2][pair % 2 * 2 + eight % 2] = pairs.values[pair];
    }
  }
}

// The products of a strip and the rows from `row` on: [8 rows, 16 columns, as tensor_core.cuh has D].
template <class T, int kChunks, int kCount>
__device__ inline void multiply_strip(const unsigned (&keys)[kChunks][2][2][4], const QueryRows<kChunks>& rows, int row,
                                      float (&products)[kCount][2][4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
    for (int eight = 0; eight < kCount; ++eight) {
      const auto& piece = rows.pieces[QueryRows<kChunks>::place(row + eight * 8 + lane / 4, chunk * 4 + lane % 4)];
      const Pack<unsigned, 4> pairs = load<4>(reinterpret_cast<const unsigned*>(&piece));
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const unsigned right[2] = {pairs.values[2 * half], pairs.values[2 * half + 1]};
#pragma unroll
        for (int tile = 0; tile < 2; ++tile) multiply_add(T{}, products[eight][tile], keys[chunk][half][tile], right);
      }
    }
  }
}

// The sums of a lane over a strip and a head's rows: columns g, g + 8, g + 16 and g + 24 of rows 2t and 2t + 1 of every 8.
struct StripSums {
  float received[4];
  float entropy;  // sum of p log2 p
};

// Rows as a lane sees them. Columns are counted from its first one.
struct RowsSeen {
  const float* log_sum_exp;
  float scale;  // to base 2
  int count;    // of rows; the others are beyond the part's end
  int columns;  // that there are
  int seen;     // by the first row; every later one sees one more
};

// Within 2^-22, the accuracy of the hardware; values below 2^-126 are 0.
__device__ inline float power_of_2(float x) {
#ifdef __CUDACC__
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return std::exp2(x);
#endif
}

template <bool kMasked, bool kMore, int kCount>
__device__ inline void add_probabilities(const float (&products)[kCount][2][4], const RowsSeen& rows, StripSums& sums,
                                         float (&means)[kCount][2][4]) {
  const int t = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
  for (int eight = 0; eight < kCount; ++eight) {
    const Pack<float, 2> whole = load<2>(rows.log_sum_exp + eight * 8 + t * 2);
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = eight * 8 + t * 2 + i % 2;
        const int column = tile * 16 + i / 2 * 8;
        float exponent = fmaf(products[eight][tile][i], rows.scale, -whole.values[i % 2] * kLog2E);
        if (kMasked && (row >= rows.count || column >= min(rows.columns, rows.seen + row))) exponent = kNoLog2;
        const float probability = power_of_2(exponent);
        sums.received[tile * 2 + i / 2] += probability;
        if constexpr (kMore) {
          means[eight][tile][i] += probability;
          sums.entropy = fmaf(probability, fmaxf(exponent, kNoLog2), sums.entropy);
        }
      }
    }
  }
}

// kMore: squares and entropies, too; each is stored where it is wanted.
template <class T, int kChunks, bool kMore>
__global__ void __launch_bounds__(kStripThreads, kStripBlocks<kChunks>) sum_columns_by_matrix(ColumnSumsLaunch args) {
  constexpr int kSteps = kQuerySteps<kChunks>;
  constexpr int kCount = kEights<kChunks>;
  constexpr int kTurns = kStripRows / (8 * kCount);
  __shared__ QueryRows<kChunks> steps[kSteps];

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int kv_head = static_cast<int>(blockIdx.y);
  const int part = static_cast<int>(blockIdx.z);
  const int first_of_block = static_cast<int>(blockIdx.x) * kStripsColumns;
  const int first_column = first_of_block + thread / 32 * kStripColumns;
  const int column = first_column + lane % 4 * 8 + lane / 4;  // whose sum this lane gets from quad_sum()
  const bool is_there = column < args.columns;
  const int first_head = kv_head * args.group;
  const bool has_entropy = kMore && args.part_entropy != nullptr && lane == 0 && is_there;
  const bool has_square = kMore && args.part_squares != nullptr && is_there;

  // The place of this lane's results; recomputed when needed, because registers are scarce.
  const auto sum_of = [&](int head) -> float& {
    return args.part_sums[(static_cast<std::int64_t>(part) * args.kv_heads * args.group + first_head + head) * args.columns + column];
  };
  const auto square = [&]() -> float& {
    return args.part_squares[(static_cast<std::int64_t>(part) * args.kv_heads + kv_head) * args.columns + column];
  };
  const auto entropy_of = [&](int head) -> double& {
    return args
        .part_entropy[(static_cast<std::int64_t>(first_head + head) * args.parts + part) * args.tiles + first_column / kStripColumns];
  };
  for (int head = 0; head < args.group; ++head) {
    if (is_there) sum_of(head) = 0.0F;
    if (has_entropy) entropy_of(head) = 0.0;
  }
  if (has_square) square() = 0.0F;

  // The first row that sees the thread block's columns, and the part's end.
  const int begin = max(part * args.part_rows, first_of_block - args.seen_by_first + 1);
  const int end = min(args.rows, args.part_rows * (part + 1));

  int next_row = begin;
  int next_head = 0;
  const auto copy_next = [&](QueryRows<kChunks>& to) {
    if (next_row < end) {
      const int row = thread / 4;
      const bool has_row = next_row + row < end;
      const T* const query = static_cast<const T*>(args.query) + (first_head + next_head) * args.query_head_stride +
                             (next_row + row) * args.query_row_stride + thread % 4 * 8;
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        copy_async<16>(&to.pieces[to.place(row, chunk * 4 + thread % 4)], query + chunk * kStripDepth,
                       has_row && chunk * kStripDepth + thread % 4 * 8 < args.head_dim);
      }
      const float* const log_sum_exp = args.log_sum_exp + (first_head + next_head) * args.log_sum_exp_stride + next_row;
      if (thread < kStripRows) copy_async<4>(to.log_sum_exp + thread, log_sum_exp + thread, next_row + thread < end);
    }
    close_copies();  // where nothing is left, a group of none: groups are counted
    if (++next_head < args.group) return;
    next_head = 0;
    next_row += kStripRows;
  };
#pragma unroll
  for (int step = 0; step < kSteps - 1; ++step) copy_next(steps[step]);

  unsigned keys[kChunks][2][2][4];
  take_keys<T, kChunks>(args, kv_head, first_column, keys);
  const float scale = args.scale * kLog2E;
  const float share = 1.0F / static_cast<float>(args.group);
  int step = 0;
  for (int first_row = begin; first_row < end; first_row += kStripRows) {
    const int rows = min(kStripRows, end - first_row);
    const int seen = min(args.columns, args.seen_by_first + first_row + rows - 1) - first_column;  // of the strip, by the last row
    const bool by_all = first_column + kStripColumns <= min(args.columns, args.seen_by_first + first_row) && rows == kStripRows;
    float means[kTurns][kCount][2][4] = {};
    for (int head = 0; head < args.group; ++head) {
      wait_for_copies<kSteps - 2>();
      __syncthreads();
      copy_next(steps[step == 0 ? kSteps - 1 : step - 1]);  // which all threads have left
      const QueryRows<kChunks>& query = steps[step];
      step = step + 1 == kSteps ? 0 : step + 1;
      if (seen <= 0) continue;
      const float before = is_there ? sum_of(head) : 0.0F;
      StripSums own = {};
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
        const int row = turn * 8 * kCount;
        float products[kCount][2][4] = {};
        multiply_strip<T>(keys, query, row, products);
        const int first = first_column + lane / 4;
        const RowsSeen seen_rows = {query.log_sum_exp + row, scale, rows - row, args.columns - first,
                                    args.seen_by_first + first_row + row - first};
        if (by_all) {
          add_probabilities<false, kMore>(products, seen_rows, own, means[turn]);
        } else {
          add_probabilities<true, kMore>(products, seen_rows, own, means[turn]);
        }
      }
      const float received = quad_sum(own.received);
      if (is_there) sum_of(head) = before + received;
      if constexpr (kMore) {
        const float entropy = warp_sum(own.entropy) * -kLn2;
        if (has_entropy) entropy_of(head) += static_cast<double>(entropy);
      }
    }
    if constexpr (kMore) {
      float squared[4] = {};
#pragma unroll
      for (int eight = 0; eight < kStripRows / 8; ++eight) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const float mean = means[eight / kCount][eight % kCount][i / 4][i % 4] * share;
          squared[i / 2] = fmaf(mean, mean, squared[i / 2]);
        }
      }
      const float of_rows = quad_sum(squared);
      if (has_square) square() += of_rows;
    }
  }
}

}  // namespace winnow::kernels::cuda
