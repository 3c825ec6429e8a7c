// The launch of keys at length 1.
#include "kernels/cuda/unit_keys.cuh"

#include "kernels/cuda/for_type.h"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_leaving_slots.h"

namespace winnow::kernels {

LaunchStatus cuda_unit_keys(const CudaUnitKeysArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  cuda::for_type(args.type, [&](auto element) {
    cuda::launch_kernel(cuda::make_unit_keys<decltype(element)>, static_cast<unsigned>(args.count), cuda::kUnitKeyThreads, stream, args);
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
