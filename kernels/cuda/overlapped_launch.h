// Launches a kernel that keeps the rules of overlap.cuh. Host code of this folder's launches.
#pragma once

#include <cuda_runtime.h>

namespace winnow::kernels::cuda {

inline bool launches_overlap() {
  static const bool overlap = [] {
    int device = 0;
    int major = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= 9;
  }();
  return overlap;
}

// kernel<<<grid, threads, 0, stream>>>(arguments...). A failure is what cudaGetLastError() says next.
template <class... Parameters, class... Arguments>
void launch_overlapped(void (*kernel)(Parameters...), dim3 grid, unsigned threads, cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = launches_overlap() ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

}  // namespace winnow::kernels::cuda
