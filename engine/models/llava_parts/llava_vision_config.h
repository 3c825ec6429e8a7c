// The vision encoder of a LLaVA in config.json: tower, selected hidden states, projector.
//
// Read by the LLaVA families' configurations, which differ in what a file need not say. Errors: as config_fields.h. No torch. Threads:
// plain values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"
#include "engine/models/vit_config.h"

namespace winnow {

enum class FeatureSelectStrategy : int {
  kFull = 1,     // every token of the tower
  kDefault = 2,  // without the first: the class token of towers that have one, else a patch
};

struct LlavaVisionConfig {
  VitConfig vision;
  Activation projector_activation = Activation::kGelu;
  bool projector_bias = true;
  // Hidden states of the tower that are concatenated for the projector, in the file's order, counted from the embeddings:
  // 0 = before the first layer, vision.layers = after the last. Never empty.
  std::vector<std::int64_t> feature_states;
  FeatureSelectStrategy select_strategy = FeatureSelectStrategy::kFull;

  bool drops_first() const { return select_strategy == FeatureSelectStrategy::kDefault; }
  // The patches of the tower are the features, no more and no less: what tiling and pooling need.
  bool features_are_patches() const { return vision.class_token == drops_first(); }
  std::int64_t features() const { return vision.patches() + (vision.class_token ? 1 : 0) - (drops_first() ? 1 : 0); }
};

// Defaults of the family's configuration class.
struct LlavaVisionDefaults {
  const char* tower = "clip_vision_model";
  std::int64_t feature_layer = -2;
  const char* strategy = "default";
};

// root: config.json; vision: its vision_config.
LlavaVisionConfig read_llava_vision(const JsonObject& root, const JsonObject& vision, const LlavaVisionDefaults& defaults);

// "full" or "default".
const char* name_of(FeatureSelectStrategy strategy);

// transformers reads some facts twice, from the model's and from the processor's files, and fails in the middle of a run when they differ:
// kDamagedFile with "<file>: <key>" as subject.
void require_agreement(bool agree, const std::string& file, const char* key, const char* reason);

}  // namespace winnow
