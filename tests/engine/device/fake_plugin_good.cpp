// A plug-in that fits the program and has no device.
#include <torch/headeronly/version.h>

#include <cstdio>

#include "engine/device/cuda_plugin_abi.h"

namespace {

int start(winnow::CudaDeviceRecord* /*device*/, char* reason, std::size_t reason_bytes) {
  std::snprintf(reason, reason_bytes, "nothing to start");
  return 1;
}

constexpr winnow::CudaPluginTable kTable = {.abi = winnow::kCudaPluginAbi, .torch_version = TORCH_VERSION, .start = start};

}  // namespace

extern "C" const winnow::CudaPluginTable* winnow_cuda_plugin() { return &kTable; }
