// Launches of decode attention: argument rules, element type, vector width, split.
#include "kernels/cuda/decode_attention.cuh"

#include <algorithm>

#include "kernels/cuda/decode_attention_matrix.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_attention.h"

namespace winnow::kernels {

namespace {

// Calls run(kernel) with the one that attends the parts.
template <class T, class Run>
void with_kernel(const cuda::DecodeLaunch& launch, Run run) {
  constexpr int kVector = 16 / static_cast<int>(sizeof(T));
  if constexpr (sizeof(T) == 2) {
    if (cuda::takes_tensor_core<T>(launch)) {
      if (launch.head_dim == 64) return run(cuda::attend_matrix_part<T, 64>);
      if (launch.head_dim == 128) return run(cuda::attend_matrix_part<T, 128>);
      return run(cuda::attend_matrix_part<T, 256>);
    }
  }
  if (launch.head_dim % kVector == 0) return run(cuda::attend_part<T, kVector>);
  run(cuda::attend_part<T, 1>);
}

template <class T>
void launch(const cuda::DecodeLaunch& launch, cuda::Grid parts, unsigned heads, void* stream) {
  with_kernel<T>(launch, [&](auto* attend) { cuda::launch_overlapped(attend, parts, cuda::kThreads, stream, launch); });
  if (!launch.direct) cuda::launch_overlapped(cuda::merge_parts<T>, heads, cuda::kThreads, stream, launch);
}

}  // namespace

LaunchStatus cuda_decode_attention(const CudaDecodeAttentionArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::DecodeLaunch decode = cuda::plan_launch(args);
  const cuda::Grid grid = cuda::part_grid(decode, args.kv_heads);
  const auto heads = static_cast<unsigned>(args.kv_heads * args.group);
  cuda::for_type(args.type, [&](auto element) { launch<decltype(element)>(decode, grid, heads, stream); });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
