// Launches of gather_slots.
#include "kernels/cuda/gather_slots.cuh"

#include "kernels/cuda/launch.h"
#include "kernels/reference/check_slots.h"

namespace winnow::kernels {

LaunchStatus cuda_gather_slots(const GatherSlotsArgs& args, void* stream) {
  if (const LaunchStatus status = check_gather(args); status != LaunchStatus::kOk) return status;
  const cuda::GatherLaunch launch = cuda::plan_launch(args);
  if (launch.longest == 0) return LaunchStatus::kOk;
  const cuda::Grid grid(static_cast<unsigned>((launch.longest + cuda::kGatherSlots - 1) / cuda::kGatherSlots),
                        static_cast<unsigned>(args.kv_heads));
  if (cuda::gathers_vectors(args)) {
    cuda::launch_kernel(cuda::gather_rows<cuda::GatherVector>, grid, 32 * cuda::kGatherSlots, stream, launch);
  } else {
    cuda::launch_kernel(cuda::gather_rows<std::uint16_t>, grid, 32 * cuda::kGatherSlots, stream, launch);
  }
  return cuda::launch_status();
}

}  // namespace winnow::kernels
