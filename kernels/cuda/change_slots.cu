// The launch of changed slots.
#include "kernels/cuda/change_slots.cuh"

#include "kernels/cuda/for_type.h"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_leaving_slots.h"

namespace winnow::kernels {

LaunchStatus cuda_change_slots(const CudaChangeSlotsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::Grid grid(static_cast<unsigned>(args.lists), 2);
  cuda::for_type(args.type, [&](auto element) {
    cuda::launch_kernel(cuda::change_slots<decltype(element)>, grid, cuda::kChangeThreads, stream, args);
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
