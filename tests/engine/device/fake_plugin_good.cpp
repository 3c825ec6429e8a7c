// A plug-in that fits the program and has no device.
#include <torch/headeronly/version.h>

#include <cstdio>

#include "engine/device/cuda_plugin_abi.h"

namespace {

int start(winnow::CudaDeviceRecord* /*device*/, char* reason, std::size_t reason_bytes) {
  std::snprintf(reason, reason_bytes, "nothing to start");
  return 1;
}

constexpr winnow::CudaPluginTable made() {
  winnow::CudaPluginTable table = {};
  table.abi = winnow::kCudaPluginAbi;
  table.torch_version = TORCH_VERSION;
  table.start = start;
  return table;
}

constexpr winnow::CudaPluginTable kTable = made();

}  // namespace

extern "C" const winnow::CudaPluginTable* winnow_cuda_plugin() { return &kTable; }
