// The launch of turned and appended rows.
#include "kernels/cuda/turn_append.cuh"

#include <cuda_runtime_api.h>

#include "kernels/cuda/for_type.h"
#include "kernels/cuda/overlapped_launch.h"
#include "kernels/reference/check_turn_append.h"

namespace winnow::kernels {
namespace {

template <class T>
void launch_turn_append(const CudaTurnAppendArgs& args, cudaStream_t stream) {
  const cuda::TurnAppendLaunch launch = cuda::plan_launch(args);
  constexpr int kVector = cuda::kWidest<T>;
  if (cuda::moves_vectors<T>(args)) {
    cuda::launch_overlapped(cuda::turn_append<T, kVector>, cuda::turn_append_blocks(launch, kVector), cuda::kTurnAppendThreads, stream,
                            launch);
  } else {
    cuda::launch_overlapped(cuda::turn_append<T, 1>, cuda::turn_append_blocks(launch, 1), cuda::kTurnAppendThreads, stream, launch);
  }
}

}  // namespace

LaunchStatus cuda_turn_append(const CudaTurnAppendArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  cuda::for_type(args.type, [&](auto element) { launch_turn_append<decltype(element)>(args, static_cast<cudaStream_t>(stream)); });
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
