// One load of a model on its way: what every family needs of it, and what is the same for all of them.
//
// Made by registry.cpp, handed to the family's loader, which reads its own configuration from the package first, so that a folder is
// refused before a tensor file is opened. Errors: Exception, Interrupted. Engine thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/models/registry.h"
#include "engine/models/weight_reader.h"
#include "engine/models/winnow_sidecar.h"
#include "engine/weights/model_weights.h"
#include "engine/weights/weight_names.h"

namespace winnow {

class ModelLoad {
 public:
  explicit ModelLoad(const ModelSource& source);
  ModelLoad(const ModelLoad&) = delete;
  ModelLoad& operator=(const ModelLoad&) = delete;

  const ModelPackage& package() const { return *source_.package; }
  // The tensors under the family's names; opened at the first call, of which there is one.
  WeightReader& weights(std::span<const WeightNameRule> rules);

  // The model is complete: all that is said of it. The family's own part stands in `info`.
  ModelInfo described(const TextDecoder& text) const;

  ModelInfo info;  // visual_tokens_per_frame, traits and a time instruction of its own, by the family

 private:
  const ModelSource& source_;
  WinnowSidecar sidecar_;
  SamplingChoice recommended_;
  std::optional<ModelWeights> files_;
  std::optional<WeightReader> reader_;
};

}  // namespace winnow
