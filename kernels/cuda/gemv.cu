// Launches of GEMVs with dense matrices: argument rules, type, how many warps share rows.
#include "kernels/cuda/gemv.cuh"

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_products.h"

namespace winnow::kernels {

LaunchStatus cuda_gemv(const CudaGemvArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::GemvLaunch launch = cuda::plan_launch(args);
  cuda::for_type(args.type, [&](auto element) {
    cuda::with_sharing(cuda::sharing_warps(launch), [&](auto sharing) {
      cuda::launch_overlapped(cuda::multiply_row<decltype(element), sharing.value>, cuda::gemv_blocks(launch, sharing.value),
                              32 * cuda::kGemvWarps, stream, launch);
    });
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
