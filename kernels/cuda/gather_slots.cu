// Launches of gather_slots.
#include "kernels/cuda/gather_slots.cuh"

#include <cuda_runtime_api.h>

#include "kernels/reference/check_gather.h"

namespace winnow::kernels {

LaunchStatus cuda_gather_slots(const GatherSlotsArgs& args, void* stream) {
  if (const LaunchStatus status = check_gather(args); status != LaunchStatus::kOk) return status;
  const cuda::GatherLaunch launch = cuda::plan_launch(args);
  if (launch.longest == 0) return LaunchStatus::kOk;
  const dim3 grid(static_cast<unsigned>((launch.longest + cuda::kGatherSlots - 1) / cuda::kGatherSlots),
                  static_cast<unsigned>(args.kv_heads));
  const auto on = static_cast<cudaStream_t>(stream);
  if (cuda::gathers_vectors(args)) {
    cuda::gather_rows<cuda::GatherVector><<<grid, 32 * cuda::kGatherSlots, 0, on>>>(launch);
  } else {
    cuda::gather_rows<std::uint16_t><<<grid, 32 * cuda::kGatherSlots, 0, on>>>(launch);
  }
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
