// Launches of attention over shared slots: argument rules, element type, vector width, split.
#include "kernels/cuda/shared_attention.cuh"

#include "kernels/cuda/for_type.h"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_shared_attention.h"

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
