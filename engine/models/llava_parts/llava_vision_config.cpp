#include "engine/models/llava_parts/llava_vision_config.h"

#include "engine/base/error.h"
#include "engine/models/config_fields.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxFeatureStates = 16;

// One layer number or a list; negative ones count from the end, as in transformers.
std::vector<std::int64_t> read_feature_states(const JsonObject& root, std::int64_t layers, std::int64_t fallback) {
  const std::int64_t states = layers + 1;
  std::vector<std::int64_t> chosen;
  if (!root.has("vision_feature_layer")) {
    chosen = {fallback};
    if (states < -fallback)
      root.refuse(ErrorCode::kDamagedFile, "vision_feature_layer", "the vision tower has fewer layers than its default");
  } else if (root.value("vision_feature_layer").is_array()) {
    chosen = root.integers("vision_feature_layer", -states, states - 1, kMaxFeatureStates);
    if (chosen.empty()) root.refuse(ErrorCode::kDamagedFile, "vision_feature_layer", "the list is empty");
  } else {
    chosen = {root.integer("vision_feature_layer", -states, states - 1)};
  }
  for (std::int64_t& state : chosen) state += state < 0 ? states : 0;
  return chosen;
}

FeatureSelectStrategy strategy_of(const std::string& name, const JsonObject& object) {
  if (name == "full") return FeatureSelectStrategy::kFull;
  if (name == "default") return FeatureSelectStrategy::kDefault;
  unsupported(object, "vision_feature_select_strategy", quoted_name(name) + " is neither \"full\" nor \"default\"");
}

}  // namespace

LlavaVisionConfig read_llava_vision(const JsonObject& root, const JsonObject& vision, const LlavaVisionDefaults& defaults) {
  LlavaVisionConfig config;
  config.vision = parse_vit_config(vision, defaults.tower);
  config.projector_activation = read_activation(root, "projector_hidden_act", "gelu");
  config.projector_bias = root.boolean("multimodal_projector_bias", true);
  config.feature_states = read_feature_states(root, config.vision.layers, defaults.feature_layer);
  config.select_strategy = strategy_of(root.string("vision_feature_select_strategy", kMaxNameBytes, defaults.strategy), root);
  return config;
}

const char* name_of(FeatureSelectStrategy strategy) { return strategy == FeatureSelectStrategy::kFull ? "full" : "default"; }

void require_agreement(bool agree, const std::string& file, const char* key, const char* reason) {
  if (!agree) throw Exception(ErrorCode::kDamagedFile, file + ": " + key, reason);
}

}  // namespace winnow
