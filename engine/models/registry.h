// The model families that the engine runs; loads a model from its package.
//
// Used by engine/generation. A family is one row in family_rows.h and one file in families/. Errors: Exception; kUnsupportedModel naming
// the class in config.json, and all errors of the family's loader; Interrupted. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/base/interrupt.h"
#include "engine/model_files/model_package.h"
#include "engine/models/vision_language_model.h"
#include "engine/models/weights/weight_plan.h"
#include "engine/weights/model_weights.h"

namespace winnow {

struct ModelSource {
  std::shared_ptr<const ModelPackage> package;
  at::Device device = at::kCPU;
  WeightPlan plan{};
  std::string device_note{};  // copied to ModelInfo
  std::string projector{};    // copied to ModelInfo
  // Called for a supported folder with an upper bound of its weights' bytes, before any is read. May throw to refuse; may be empty.
  std::function<void(std::uint64_t bytes)> before_weights{};
  std::function<void(const WeightProgress&)> progress{};  // called at the start and after every tensor; may be empty
  InterruptToken interrupt{};
};

std::unique_ptr<VisionLanguageModel> load_model(const ModelSource& source);

}  // namespace winnow
