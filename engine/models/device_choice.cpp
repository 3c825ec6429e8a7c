#include "engine/models/device_choice.h"

#include <cstdint>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/models/weights/weight_format.h"

namespace winnow {

DeviceChoice choose_device(Device wanted, WeightFormat format, const TensorFiles& weights, const ToldCache& cache) {
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
  const std::uint64_t needed = most_bytes_under(weights_as(format, VisionFormat::kAuto, gpu), weights) +
                               static_cast<std::uint64_t>(cache.usual_bytes() + kGpuWorkingBytes);
  if (needed <= found->free_bytes) return {gpu, ""};
  const std::string needs = "the model needs " + std::to_string(needed >> 20) + " MiB with the cache of a conversation";
  return {at::kCPU,
          needs + " and the " + found->name + " has " + std::to_string(found->free_bytes >> 20) + " MiB free: it runs on the CPU"};
}

}  // namespace winnow
