// The device code that rotates and appends rows; launched by rotate_append.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// A thread rotates kVector adjacent pairs of a query or a key, or copies as many adjacent elements of a value.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/api/cuda_rotate_append.h"
#include "kernels/cuda/overlap.cuh"
#include "kernels/cuda/rotary.cuh"

namespace winnow::kernels::cuda {

constexpr int kRotateAppendThreads = 128;

struct RotateAppendLaunch {
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
inline RotateAppendLaunch plan_launch(const CudaRotateAppendArgs& args) {
  RotateAppendLaunch launch = {};
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

// True if kWidest adjacent elements can be moved at once: every half of every head begins at a multiple of 16 bytes, as blocks do.
template <class T>
bool moves_vectors(const CudaRotateAppendArgs& args) {
  return args.half % kWidest<T> == 0 && is_aligned(args.input) && is_aligned(args.queries) && is_aligned(args.cosine) &&
         is_aligned(args.sine);
}

inline unsigned rotate_append_blocks(const RotateAppendLaunch& launch, int vector) {
  const int numbers = (launch.heads + launch.kv_heads) * launch.half + 2 * launch.kv_heads * launch.half;
  const int share = kRotateAppendThreads * vector;
  return static_cast<unsigned>((numbers + share - 1) / share);
}

// The place of the token's row of a head.
template <class T>
__device__ inline T* new_row(const RotateAppendLaunch& args, void* const* blocks, int head) {
  const int slot = args.slots[head] + (args.further != nullptr ? *args.further : 0);
  T* const block = static_cast<T*>(blocks[head * args.table_stride + slot / args.block_slots]);
  return block + static_cast<std::int64_t>(slot % args.block_slots) * 2 * args.half;
}

// Grid: rotate_append_blocks().
template <class T, int kVector>
__global__ void __launch_bounds__(kRotateAppendThreads) rotate_append(RotateAppendLaunch args) {
  let_next_begin();
  wait_for_earlier();
  const T* const input = static_cast<const T*>(args.input);
  const int rotated = (args.heads + args.kv_heads) * args.half;  // pairs
  const int first = (static_cast<int>(blockIdx.x) * kRotateAppendThreads + static_cast<int>(threadIdx.x)) * kVector;
  if (first < rotated) {
    const int head = first / args.half;
    const int i = first % args.half;
    T* const to =
        head < args.heads ? static_cast<T*>(args.queries) + head * 2 * args.half : new_row<T>(args, args.key_blocks, head - args.heads);
    turn_pairs<kVector>(input + head * 2 * args.half + i, static_cast<const T*>(args.cosine) + i, static_cast<const T*>(args.sine) + i,
                        args.half, to + i);
    return;
  }
  const int number = first - rotated;
  const int head = number / (2 * args.half);
  if (head >= args.kv_heads) return;
  const int i = number % (2 * args.half);
  store(load<kVector>(input + 2 * rotated + number), new_row<T>(args, args.value_blocks, head) + i);
}

}  // namespace winnow::kernels::cuda
