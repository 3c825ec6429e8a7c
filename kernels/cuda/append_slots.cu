// Launches of append_slots.
#include "kernels/cuda/append_slots.cuh"

#include <cuda_runtime_api.h>

#include "kernels/cuda/overlapped_launch.h"
#include "kernels/reference/check_append.h"

namespace winnow::kernels {

LaunchStatus cuda_append_slots(const AppendSlotsArgs& args, void* stream) {
  if (const LaunchStatus status = check_append(args); status != LaunchStatus::kOk) return status;
  const cuda::AppendLaunch launch = cuda::plan_launch(args);
  const dim3 grid(static_cast<unsigned>((args.tokens + cuda::kAppendTokens - 1) / cuda::kAppendTokens),
                  static_cast<unsigned>(args.kv_heads));
  const auto on = static_cast<cudaStream_t>(stream);
  if (args.element_bytes == 2) {
    cuda::launch_overlapped(cuda::append_rows<std::uint16_t>, grid, 32 * cuda::kAppendTokens, on, launch);
  } else {
    cuda::launch_overlapped(cuda::append_rows<std::uint32_t>, grid, 32 * cuda::kAppendTokens, on, launch);
  }
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
