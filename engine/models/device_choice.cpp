#include "engine/models/device_choice.h"

#include <cstdint>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/models/weight_format.h"

namespace winnow {
namespace {

// Beside the weights: activations, features and a cache to work with.
constexpr std::uint64_t kWorkingBytes = std::uint64_t{1} << 30;

}  // namespace

DeviceChoice choose_device(Device wanted, WeightFormat format, const TensorFiles& weights) {
  if (wanted == Device::kCpu) return {};
  const at::Device gpu(at::kCUDA, 0);
  if (wanted == Device::kCuda) {
    open_cuda();
    return {gpu, ""};
  }
  const CudaDevice* found = nullptr;
  try {
    found = &open_cuda();
  } catch (const Exception&) {
    return {};  // no GPU is the ordinary case and no news
  }
  const std::uint64_t needed = most_bytes_under(weights_as(format, gpu), weights) + kWorkingBytes;
  if (needed <= found->free_bytes) return {gpu, ""};
  return {at::kCPU, "the model needs " + std::to_string(needed >> 20) + " MiB and the " + found->name + " has " +
                        std::to_string(found->free_bytes >> 20) + " MiB free: it runs on the CPU"};
}

}  // namespace winnow
