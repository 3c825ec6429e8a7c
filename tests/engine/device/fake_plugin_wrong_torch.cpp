// A plug-in that was built with another libtorch.
#include "engine/device/cuda_plugin_abi.h"

namespace {
constexpr winnow::CudaPluginTable kTable = {.abi = winnow::kCudaPluginAbi, .torch_version = "1.0.0"};
}  // namespace

extern "C" const winnow::CudaPluginTable* winnow_cuda_plugin() { return &kTable; }
