// Chooses where a model's weights go: the device that the user asked for, or the GPU if they and a conversation fit its free memory.
//
// Used by engine/generation when a model is loaded. Errors: Exception of open_cuda() if a GPU was asked for. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <string>

#include "engine/models/config/told_cache.h"
#include "engine/models/load_settings.h"
#include "engine/weights/tensor_file.h"

namespace winnow {

struct DeviceChoice {
  at::Device device = at::kCPU;
  std::string note;  // why not the faster choice; empty: it is the faster one, or the one that was asked for
};

DeviceChoice choose_device(Device wanted, WeightFormat format, const TensorFiles& weights, const ToldCache& cache);

}  // namespace winnow
