// The launch of changed slots.
#include "kernels/cuda/change_slots.cuh"

#include <cuda_runtime_api.h>

#include "kernels/cuda/for_type.h"
#include "kernels/reference/check_leaving_slots.h"

namespace winnow::kernels {

LaunchStatus cuda_change_slots(const CudaChangeSlotsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const dim3 grid(static_cast<unsigned>(args.lists), 2);
  cuda::for_type(args.type, [&](auto element) {
    cuda::change_slots<decltype(element)><<<grid, cuda::kChangeThreads, 0, static_cast<cudaStream_t>(stream)>>>(args);
  });
  return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError;
}

}  // namespace winnow::kernels
