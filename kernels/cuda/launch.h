// Launches of kernels: host code of this folder's .cu files, which name no CUDA runtime themselves. nvcc makes launches on a device of
// them; in tests the same files launch on CPU fibers (tests/kernels/cuda_on_cpu.h, included before).
#pragma once

#include "kernels/api/element_type.h"

#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif

namespace winnow::kernels::cuda {

#ifdef __CUDACC__
using Grid = dim3;

inline bool launches_overlap() {
  static const bool overlap = [] {
    int device = 0;
    int major = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= 9;
  }();
  return overlap;
}

// stream: a cudaStream_t. A failure is what launch_status() says next.
template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), Grid grid, unsigned threads, void* stream, const Arguments&... arguments) {
  kernel<<<grid, threads, 0, static_cast<cudaStream_t>(stream)>>>(Parameters(arguments)...);
}

// The same for a kernel that keeps the rules of overlap.cuh.
template <class... Parameters, class... Arguments>
void launch_overlapped(void (*kernel)(Parameters...), Grid grid, unsigned threads, void* stream, const Arguments&... arguments) {
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &overlap;
  config.numAttrs = launches_overlap() ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

// Reports if the launches since the last call began.
inline LaunchStatus launch_status() { return cudaGetLastError() == cudaSuccess ? LaunchStatus::kOk : LaunchStatus::kDeviceError; }
#else
template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), Grid grid, unsigned threads, void* /*stream*/, const Arguments&... arguments) {
  launch_on_cpu(grid, threads, [&] { kernel(Parameters(arguments)...); });
}
template <class... Parameters, class... Arguments>
void launch_overlapped(void (*kernel)(Parameters...), Grid grid, unsigned threads, void* stream, const Arguments&... arguments) {
  launch_kernel(kernel, grid, threads, stream, arguments...);
}
inline LaunchStatus launch_status() { return LaunchStatus::kOk; }
#endif

}  // namespace winnow::kernels::cuda
