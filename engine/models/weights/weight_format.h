// How the weights are held that a user asked for: a WeightFormat as a WeightPlan for a device.
//
// Used by engine/generation when a model is loaded. Threads: any.
#pragma once

#include <ATen/ATen.h>

#include "engine/models/load_settings.h"
#include "engine/models/weights/weight_plan.h"

namespace winnow {

WeightPlan weights_as(WeightFormat wanted, VisionFormat vision, at::Device device);

}  // namespace winnow
