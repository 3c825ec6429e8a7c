// Launches of dequantised rows: argument rules, stored type.
#include "kernels/cuda/dequantise_rows.cuh"

#include "kernels/cuda/launch.h"
#include "kernels/reference/check_cuda_blocks.h"

namespace winnow::kernels {

LaunchStatus cuda_dequantise_rows(const CudaDequantiseRowsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::DequantiseLaunch launch = cuda::plan_launch(args);
  cuda::with_block_type(args.type, [&](auto type) {
    using Type = decltype(type);
    cuda::launch_kernel(cuda::dequantise_pieces<Type>, cuda::dequantise_blocks<Type>(args), cuda::kDequantiseThreads, stream, launch);
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
