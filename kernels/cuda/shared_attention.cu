// Attention over shared slots: device code and launch. Tests run both on CPU threads, too (tests/kernels/cuda_on_cpu.h).
//
// attend_tokens: one thread block per (part of the tokens, KV head, tile of 8 query heads), as in attention_part.cuh. A thread per token
// first looks up where its key and value lie. A key that is rotated is rotated once for all query heads, in registers. Tokens of one slot
// read its rows once each: memory gives them once, the second-level cache the other times.
// join_tokens: joins the parts of a query head by log-sum-exp, and takes the mean of the probabilities over a group, always in the same
// order.
#include <algorithm>
#include <cmath>

#include "kernels/api/cuda_shared_attention.h"
#include "kernels/cuda/attention_part.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_attention.h"

namespace winnow::kernels::cuda {

constexpr int kJoinedTokens = 512;  // whose probabilities a thread block of join_tokens writes

struct SharedAttentionLaunch : AttentionLaunch {
  const std::int32_t* entry_slot;
  const float* entry_factor;
  const float* entry_position;  // or null
  const float* frequencies;     // or null
  std::int64_t entry_stride;
  float* probabilities;  // or null, as the logits
  std::int64_t probability_stride;
  int tokens[kMaxCudaKvHeads];
  int listed[kMaxCudaKvHeads];
  int covered[kMaxCudaKvHeads];
};
static_assert(sizeof(SharedAttentionLaunch) <= 4096, "what a launch takes along");

// args have been checked.
inline SharedAttentionLaunch plan_launch(const CudaSharedAttentionArgs& args) {
  SharedAttentionLaunch launch = {};
  static_cast<AttentionLaunch&>(launch) = plan_attention(args, longest_shared_head(args));
  launch.logits = args.probabilities != nullptr ? launch.part_lse + args.kv_heads * args.group * args.parts : nullptr;
  launch.logit_stride = longest_shared_head(args);
  launch.entry_slot = args.entry_slot;
  launch.entry_factor = args.entry_factor;
  launch.entry_position = args.entry_position;
  launch.frequencies = args.frequencies;
  launch.entry_stride = args.entry_stride;
  launch.probabilities = args.probabilities;
  launch.probability_stride = args.probability_stride;
  for (std::int64_t head = 0; head < args.kv_heads; ++head) launch.tokens[head] = static_cast<int>(shared_tokens(args, head));
  std::copy_n(args.listed, args.kv_heads, launch.listed);
  std::copy_n(args.covered, args.kv_heads, launch.covered);
  return launch;
}

// Thread blocks of join_tokens for a KV head.
inline unsigned join_pieces(const SharedAttentionLaunch& launch) {
  const std::int64_t pieces = launch.probabilities != nullptr ? (launch.logit_stride + kJoinedTokens - 1) / kJoinedTokens : 0;
  return static_cast<unsigned>(std::max<std::int64_t>(launch.group, pieces));
}

// Elements of K per load: what 16 bytes hold, or fewer where rotated halves take registers. 1 where rows do not begin at multiples of that.
template <class T, bool kRotated>
inline constexpr int kKeyVector = kRotated ? 2 : kWidest<T>;
template <class T, bool kRotated>
bool reads_key_vectors(const CudaSharedAttentionArgs& args) {
  return kRotated ? args.head_dim % (2 * kKeyVector<T, kRotated>) == 0 : args.head_dim % kKeyVector<T, kRotated> == 0;
}

// The entries of 64 tokens that a thread block has looked up, in shared memory.
template <class T>
struct FoundTokens {
  const T* keys[kTile];
  const T* values[kTile];
  bool live[kTile];
  float factors[kTile];  // of the logit; of a token that is not live the logit
  float positions[kTile];
};

// 64 tokens of a head, each with a slot of its own or one that others have, too.
template <class T, bool kRotated>
struct TileOfTokens {
  static constexpr bool kLooksUp = true;

  __device__ void find(int first, int count) {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < count) {
      const int token = first + thread;
      int slot = token - args.listed[kv_head] + args.covered[kv_head];
      float factor = 1.0F;
      float position = 0.0F;
      if (token < args.listed[kv_head]) {
        const std::int64_t entry = kv_head * args.entry_stride + token;
        slot = args.entry_slot[entry];
        factor = args.entry_factor[entry];
        if (kRotated) position = args.entry_position[entry];
      }
      found.live[thread] = slot >= 0;
      if (slot < 0) factor = slot == kZeroToken ? 0.0F : minus_infinity();
      slot = max(slot, 0);  // read, but without weight
      const std::int64_t offset = static_cast<std::int64_t>(slot % args.block_slots) * args.head_dim;
      const std::int64_t block = kv_head * args.table_stride + slot / args.block_slots;
      found.keys[thread] = static_cast<const T*>(args.key_blocks[block]) + offset;
      found.values[thread] = static_cast<const T*>(args.value_blocks[block]) + offset;
      found.factors[thread] = factor;
      found.positions[thread] = position;
    }
    __syncthreads();
  }
  __device__ const T* key(int row) const { return found.keys[row]; }
  __device__ const T* value(int row) const { return found.values[row]; }
  __device__ float logit(int row, float product) const { return found.live[row] ? product * found.factors[row] : found.factors[row]; }
  __device__ bool is_live(int row) const { return found.live[row]; }

  template <int kVector>
  __device__ void multiply(const T* const (&rows)[kRows], int count, const float* queries, int heads,
                           float (&logits)[kRows][kHeads]) const {
    if constexpr (!kRotated) return multiply_keys<kVector>(rows, queries, heads, args.head_dim, logits);
    const int half = args.head_dim / 2;
    const int first_row = static_cast<int>(threadIdx.x) / kRowLanes;
    for (int i = static_cast<int>(threadIdx.x) % kRowLanes * kVector; i < half; i += kRowLanes * kVector) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const float position = found.positions[min(first_row + r * kRowsAtOnce, count - 1)];
        const Pack<T, kVector> low = load<kVector>(rows[r] + i);
        const Pack<T, kVector> high = load<kVector>(rows[r] + half + i);
        float rotated[2][kVector];
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          float sine = 0.0F;
          float cosine = 1.0F;
          sincosf(__fmul_rn(position, args.frequencies[i + v]), &sine, &cosine);
          rotated[0][v] = fmaf(upcast(low.values[v]), cosine, -(upcast(high.values[v]) * sine));
          rotated[1][v] = fmaf(upcast(high.values[v]), cosine, upcast(low.values[v]) * sine);
        }
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          if (h >= heads) break;
          const Pack<float, kVector> first = load<kVector>(queries + h * args.head_dim + i);
          const Pack<float, kVector> second = load<kVector>(queries + h * args.head_dim + half + i);
#pragma unroll
          for (int v = 0; v < kVector; ++v) {
            logits[r][h] = fmaf(first.values[v], rotated[0][v], logits[r][h]);
            logits[r][h] = fmaf(second.values[v], rotated[1][v], logits[r][h]);
          }
        }
      }
    }
  }

  const SharedAttentionLaunch& args;
  int kv_head;
  FoundTokens<T>& found;
};

template <class T, int kVector, bool kRotated>
__global__ void __launch_bounds__(kThreads) attend_tokens(SharedAttentionLaunch args) {
  __shared__ FoundTokens<T> found;
  const PartOfHeads own = own_part(args);
  const std::int64_t begin = static_cast<std::int64_t>(own.part) * args.part_rows;
  const int end = static_cast<int>(min(static_cast<std::int64_t>(args.tokens[own.kv_head]), begin + args.part_rows));
  if (begin >= end) return;  // a shorter head than others; the whole thread block returns
  TileOfTokens<T, kRotated> tile{args, own.kv_head, found};
  attend<T, kVector>(args, own, static_cast<int>(begin), end, tile);
}

// blockIdx.x: the query head of the group whose parts are joined, and the piece of the tokens whose probabilities are written.
template <class T>
__global__ void __launch_bounds__(kThreads) join_tokens(SharedAttentionLaunch args) {
  __shared__ float highest[kMaxGroup];  // log-sum-exp of a query head's parts
  __shared__ float total[kMaxGroup];    // of their e^(log-sum-exp - highest)
  const int thread = static_cast<int>(threadIdx.x);
  const int piece = static_cast<int>(blockIdx.x);
  const int kv_head = static_cast<int>(blockIdx.y);
  const int tokens = args.tokens[kv_head];
  const int used = static_cast<int>((static_cast<std::int64_t>(tokens) + args.part_rows - 1) / args.part_rows);
  const std::int64_t first_head = static_cast<std::int64_t>(kv_head) * args.group;
  for (int h = thread; h < args.group; h += kThreads) {
    const float* const lse = args.part_lse + (first_head + h) * args.parts;
    float most = minus_infinity();
    for (int part = 0; part < used; ++part) most = fmaxf(most, lse[part]);
    float sum = 0.0F;
    for (int part = 0; part < used; ++part) sum += expf(lse[part] - most);
    highest[h] = most;
    total[h] = sum;
  }
  __syncthreads();
  if (piece < args.group) {
    const std::int64_t head = first_head + piece;
    const float* const lse = args.part_lse + head * args.parts;
    const float* const parts = args.part_output + head * args.parts * args.head_dim;
    for (int i = thread; i < args.head_dim; i += kThreads) {
      float value = 0.0F;
      for (int part = 0; part < used; ++part) value = fmaf(expf(lse[part] - highest[piece]), parts[part * args.head_dim + i], value);
      narrow(value / total[piece], static_cast<T*>(args.output)[head * args.head_dim + i]);
    }
    if (thread == 0 && args.log_sum_exp != nullptr) args.log_sum_exp[head] = highest[piece] + logf(total[piece]);
  }
  if (args.probabilities == nullptr) return;
  const int end = static_cast<int>(min(static_cast<std::int64_t>(tokens), (static_cast<std::int64_t>(piece) + 1) * kJoinedTokens));
  for (std::int64_t token = static_cast<std::int64_t>(piece) * kJoinedTokens + thread; token < end; token += kThreads) {
    float sum = 0.0F;
    for (int h = 0; h < args.group; ++h) {
      sum += expf(args.logits[(first_head + h) * args.logit_stride + token] - highest[h]) / total[h];
    }
    args.probabilities[kv_head * args.probability_stride + token] = sum / static_cast<float>(args.group);
  }
}

}  // namespace winnow::kernels::cuda

namespace winnow::kernels {

namespace {

template <class T, bool kRotated>
void attend(const CudaSharedAttentionArgs& args, const cuda::SharedAttentionLaunch& launch, cuda::Grid grid, void* stream) {
  if (cuda::reads_key_vectors<T, kRotated>(args)) {
    cuda::launch_kernel(cuda::attend_tokens<T, cuda::kKeyVector<T, kRotated>, kRotated>, grid, cuda::kThreads, stream, launch);
  } else {
    cuda::launch_kernel(cuda::attend_tokens<T, 1, kRotated>, grid, cuda::kThreads, stream, launch);
  }
}

}  // namespace

LaunchStatus cuda_shared_attention(const CudaSharedAttentionArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::SharedAttentionLaunch launch = cuda::plan_launch(args);
  const auto kv_heads = static_cast<unsigned>(args.kv_heads);
  const cuda::Grid grid = cuda::part_grid(launch, args.kv_heads);
  cuda::for_type(args.type, [&](auto element) {
    using T = decltype(element);
    if (args.entry_position != nullptr) {
      attend<T, true>(args, launch, grid, stream);
    } else {
      attend<T, false>(args, launch, grid, stream);
    }
    if (!launch.direct)
      cuda::launch_kernel(cuda::join_tokens<T>, cuda::Grid(cuda::join_pieces(launch), kv_heads), cuda::kThreads, stream, launch);
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
