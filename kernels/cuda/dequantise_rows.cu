// Launches of dequantised rows: argument rules, stored type.
#include "kernels/cuda/dequantise_rows.cuh"

#include <cuda_runtime_api.h>

#include "kernels/reference/check_cuda_blocks.h"

namespace winnow::kernels {

LaunchStatus cuda_dequantise_rows(const CudaDequantiseRowsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::DequantiseLaunch launch = cuda::plan_launch(args);
  const auto on = static_cast<cudaStream_t>(stream);
  cuda::with_block_type(args.type, [&](auto type) {
    using Type = decltype(type);
    cuda::dequantise_pieces<Type><<<cuda::dequantise_blocks<Type>(args), cuda::kDequantiseThreads, 0, on>>>(launch);
  });
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
