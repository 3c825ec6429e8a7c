// Launches of attention over shared slots: argument rules, element type, vector width, split.
#include "kernels/cuda/shared_attention.cuh"

#include <cuda_runtime_api.h>

#include "kernels/cuda/for_type.h"
#include "kernels/reference/check_shared_attention.h"

namespace winnow::kernels {

namespace {

template <class T, bool kRotated>
void attend(const CudaSharedAttentionArgs& args, const cuda::SharedAttentionLaunch& launch, dim3 grid, cudaStream_t stream) {
  if (cuda::reads_key_vectors<T, kRotated>(args)) {
    cuda::attend_tokens<T, cuda::kKeyVector<T, kRotated>, kRotated><<<grid, cuda::kTokenThreads, 0, stream>>>(launch);
  } else {
    cuda::attend_tokens<T, 1, kRotated><<<grid, cuda::kTokenThreads, 0, stream>>>(launch);
  }
}

}  // namespace

LaunchStatus cuda_shared_attention(const CudaSharedAttentionArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::SharedAttentionLaunch launch = cuda::plan_launch(args);
  const auto kv_heads = static_cast<unsigned>(args.kv_heads);
  const dim3 grid(static_cast<unsigned>(launch.parts), kv_heads, static_cast<unsigned>((args.group + kCudaGroupTile - 1) / kCudaGroupTile));
  const auto on = static_cast<cudaStream_t>(stream);
  cuda::for_type(args.type, [&](auto element) {
    using T = decltype(element);
    if (args.entry_position != nullptr) {
      attend<T, true>(args, launch, grid, on);
    } else {
      attend<T, false>(args, launch, grid, on);
    }
    if (!launch.direct) cuda::join_tokens<T><<<dim3(cuda::join_pieces(launch), kv_heads), cuda::kTokenThreads, 0, on>>>(launch);
  });
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
