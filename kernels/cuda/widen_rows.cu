// Launches of widened rows: argument rules, stored type.
#include "kernels/cuda/widen_rows.cuh"

#include <cuda_runtime_api.h>

#include "kernels/reference/check_cuda_blocks.h"

namespace winnow::kernels {

LaunchStatus cuda_widen_rows(const CudaWidenRowsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::WidenLaunch launch = cuda::plan_launch(args);
  const auto on = static_cast<cudaStream_t>(stream);
  cuda::with_block_type(args.type, [&](auto type) {
    using Type = decltype(type);
    cuda::widen_pieces<Type><<<cuda::widen_blocks<Type>(args), cuda::kWidenThreads, 0, on>>>(launch);
  });
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
