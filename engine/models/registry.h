// Which families the engine runs, and the way from a model's package to a model.
//
// Used by engine/generation. A family is one line in registry.cpp and one folder beside it. Errors: Exception; kUnsupportedModel naming
// what config.json says, and everything that the family's loader throws; Interrupted. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/interrupt.h"
#include "engine/model_files/model_package.h"
#include "engine/models/vision_language_model.h"
#include "engine/models/weight_plan.h"
#include "engine/weights/model_weights.h"

namespace winnow {

struct ModelSource {
  std::shared_ptr<const ModelPackage> package;
  at::Device device = at::kCPU;
  WeightPlan plan;
  std::string device_note;  // goes into ModelInfo
  std::string projector;    // goes into ModelInfo
  // The folder is one that runs; called with what its weights take at most, before the first of them is read. May refuse, may be empty.
  std::function<void(std::uint64_t bytes)> before_weights;
  std::function<void(const WeightProgress&)> progress;  // at the beginning and after every tensor; may be empty
  InterruptToken interrupt;
};

std::unique_ptr<VisionLanguageModel> load_model(const ModelSource& source);

}  // namespace winnow
