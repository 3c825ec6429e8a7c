// The device code of turned and appended rows; launched by turn_append.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// A thread turns kVector neighbouring pairs of a query or a key, or copies as many neighbours of a value.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/api/cuda_turn_append.h"
#include "kernels/cuda/overlap.cuh"
#include "kernels/cuda/rotary.cuh"

namespace winnow::kernels::cuda {

constexpr int kTurnAppendThreads = 128;

struct TurnAppendLaunch {
  const void* input;
  const void* cosine;
  const void* sine;
  void* queries;
  void* const* key_blocks;
  void* const* value_blocks;
  std::int64_t table_stride;
  const std::int32_t* further;  // or null
  int heads;
  int kv_heads;
  int half;
  int block_slots;
  int slots[kMaxAppendHeads];
};

// args have been checked.
inline TurnAppendLaunch plan_launch(const CudaTurnAppendArgs& args) {
  TurnAppendLaunch launch = {};
  launch.input = args.input;
  launch.cosine = args.cosine;
  launch.sine = args.sine;
  launch.queries = args.queries;
  launch.key_blocks = args.key_blocks;
  launch.value_blocks = args.value_blocks;
  launch.table_stride = args.table_stride;
  launch.further = args.further;
  launch.heads = static_cast<int>(args.heads);
  launch.kv_heads = static_cast<int>(args.kv_heads);
  launch.half = static_cast<int>(args.half);
  launch.block_slots = static_cast<int>(args.block_slots);
  std::copy_n(args.slots, args.kv_heads, launch.slots);
  return launch;
}

// Whether kWidest neighbours can be moved at once: every half of every head begins at a multiple of 16 bytes, as blocks do.
template <class T>
bool moves_vectors(const CudaTurnAppendArgs& args) {
  return args.half % kWidest<T> == 0 && is_aligned(args.input) && is_aligned(args.queries) && is_aligned(args.cosine) &&
         is_aligned(args.sine);
}

inline unsigned turn_append_blocks(const TurnAppendLaunch& launch, int vector) {
  const int numbers = (launch.heads + launch.kv_heads) * launch.half + 2 * launch.kv_heads * launch.half;
  const int share = kTurnAppendThreads * vector;
  return static_cast<unsigned>((numbers + share - 1) / share);
}

// Where the token's row of a head goes.
template <class T>
__device__ inline T* new_row(const TurnAppendLaunch& args, void* const* blocks, int head) {
  const int slot = args.slots[head] + (args.further != nullptr ? *args.further : 0);
  T* const block = static_cast<T*>(blocks[head * args.table_stride + slot / args.block_slots]);
  return block + static_cast<std::int64_t>(slot % args.block_slots) * 2 * args.half;
}

// Grid: turn_append_blocks().
template <class T, int kVector>
__global__ void __launch_bounds__(kTurnAppendThreads) turn_append(TurnAppendLaunch args) {
  let_next_begin();
  wait_for_earlier();
  const T* const input = static_cast<const T*>(args.input);
  const int turned = (args.heads + args.kv_heads) * args.half;  // pairs
  const int first = (static_cast<int>(blockIdx.x) * kTurnAppendThreads + static_cast<int>(threadIdx.x)) * kVector;
  if (first < turned) {
    const int head = first / args.half;
    const int i = first % args.half;
    T* const to =
        head < args.heads ? static_cast<T*>(args.queries) + head * 2 * args.half : new_row<T>(args, args.key_blocks, head - args.heads);
    turn_pairs<kVector>(input + head * 2 * args.half + i, static_cast<const T*>(args.cosine) + i, static_cast<const T*>(args.sine) + i,
                        args.half, to + i);
    return;
  }
  const int number = first - turned;
  const int head = number / (2 * args.half);
  if (head >= args.kv_heads) return;
  const int i = number % (2 * args.half);
  store(load<kVector>(input + 2 * turned + number), new_row<T>(args, args.value_blocks, head) + i);
}

}  // namespace winnow::kernels::cuda
