// Launches of sample_token.
#include "kernels/cuda/sample_token.cuh"

#include <cuda_runtime_api.h>

#include "kernels/reference/check_sample_token.h"

namespace winnow::kernels {

LaunchStatus cuda_sample_token(const SampleTokenArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::ChooseLaunch launch = cuda::plan_launch(args);
  const auto chunks = static_cast<unsigned>(launch.chunks);
  const auto on = static_cast<cudaStream_t>(stream);
  cuda::find_best<<<chunks, cuda::kChoiceThreads, 0, on>>>(launch);
  if (args.temperature == 0.0) {
    cuda::take_best<<<1, cuda::kChoiceThreads, 0, on>>>(launch);
  } else {
    cuda::sort_chunk<<<chunks, cuda::kChoiceThreads, 0, on>>>(launch);
    cuda::draw_token<<<1, cuda::kChoiceThreads, 0, on>>>(launch);
  }
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
