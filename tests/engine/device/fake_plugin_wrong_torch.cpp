// A plug-in that was built with another libtorch.
#include "engine/device/cuda_plugin_abi.h"

namespace {
constexpr winnow::CudaPluginTable kTable = {winnow::kCudaPluginAbi, "1.0.0", nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
}  // namespace

extern "C" const winnow::CudaPluginTable* winnow_cuda_plugin() { return &kTable; }
