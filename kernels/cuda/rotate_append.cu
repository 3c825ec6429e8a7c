// Rows rotated and appended: device code and launch. Tests run both on CPU threads, too (tests/kernels/cuda_on_cpu.h).
//
// A thread rotates kVector adjacent pairs of a query or a key, or copies as many adjacent elements of a value.
#include <algorithm>
#include <cstdint>

#include "kernels/api/cuda_rotate_append.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/overlap.cuh"
#include "kernels/cuda/rotary.cuh"
#include "kernels/reference/check_slots.h"

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

namespace winnow::kernels {
namespace {

template <class T>
void launch_rotate_append(const CudaRotateAppendArgs& args, void* stream) {
  const cuda::RotateAppendLaunch launch = cuda::plan_launch(args);
  constexpr int kVector = cuda::kWidest<T>;
  if (cuda::moves_vectors<T>(args)) {
    cuda::launch_overlapped(cuda::rotate_append<T, kVector>, cuda::rotate_append_blocks(launch, kVector), cuda::kRotateAppendThreads,
                            stream, launch);
  } else {
    cuda::launch_overlapped(cuda::rotate_append<T, 1>, cuda::rotate_append_blocks(launch, 1), cuda::kRotateAppendThreads, stream, launch);
  }
}

}  // namespace

LaunchStatus cuda_rotate_append(const CudaRotateAppendArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  cuda::for_type(args.type, [&](auto element) { launch_rotate_append<decltype(element)>(args, stream); });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
