// A plug-in that was built with another libtorch.
#include "engine/device/cuda_plugin_abi.h"

namespace {
constexpr winnow::CudaPluginTable made() {
  winnow::CudaPluginTable table = {};
  table.abi = winnow::kCudaPluginAbi;
  table.torch_version = "1.0.0";
  return table;
}

constexpr winnow::CudaPluginTable kTable = made();
}  // namespace

extern "C" const winnow::CudaPluginTable* winnow_cuda_plugin() { return &kTable; }
