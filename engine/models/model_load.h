// The state of loading a model that all families share.
//
// Made by registry.cpp for the family's loader, which reads its configuration first, so that an unsupported folder is refused before a
// tensor file is opened. Errors: Exception, Interrupted. Engine thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/models/config/winnow_sidecar.h"
#include "engine/models/registry.h"
#include "engine/models/weights/weight_reader.h"
#include "engine/weights/model_weights.h"
#include "engine/weights/weight_names.h"

namespace winnow {

class ModelLoad {
 public:
  explicit ModelLoad(const ModelSource& source);
  ModelLoad(const ModelLoad&) = delete;
  ModelLoad& operator=(const ModelLoad&) = delete;

  const ModelPackage& package() const { return *source_.package; }
  // The tensors under the family's names. Opens them; call once.
  WeightReader& weights(std::span<const WeightNameRule> rules);

  // kDamagedFile about `key` of config.json, which names `id` for the token, where the tokenizer's has another id.
  void require_token(const char* key, const std::string& token, std::int64_t id) const;

  // The complete ModelInfo, once the weights are read. The family's own part comes from `info`.
  ModelInfo described(const TextDecoder& text) const;

  ModelInfo info;  // set by the family: visual_tokens_per_frame, traits, a time instruction of its own

 private:
  const ModelSource& source_;
  WinnowSidecar sidecar_;
  SamplingChoice recommended_;
  std::optional<ModelWeights> files_;
  std::optional<WeightReader> reader_;
};

}  // namespace winnow
