// The launch of rotated and appended rows.
#include "kernels/cuda/rotate_append.cuh"

#include "kernels/cuda/for_type.h"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_rotate_append.h"

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
