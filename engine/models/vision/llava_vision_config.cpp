#include "engine/models/vision/llava_vision_config.h"

#include <array>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"

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

constexpr std::int64_t kMaxSidePx = 16'384;
constexpr std::int64_t kMaxGridPixels = std::int64_t{16} << 20;  // of one pinpoint: what the tiles of one image may take
constexpr std::size_t kMaxPinpoints = 256;

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

std::vector<PixelSize> read_grid_pinpoints(const JsonObject& object, const char* key) {
  const Json& list = object.value(key);
  if (!list.is_array() || list.empty()) object.refuse(ErrorCode::kDamagedFile, key, "it must be a list of [height, width] pairs");
  if (list.size() > kMaxPinpoints) {
    object.refuse(ErrorCode::kLimitExceeded, key, "it has more than " + std::to_string(kMaxPinpoints) + " entries");
  }
  std::vector<PixelSize> pinpoints;
  for (const Json& pair : list) {
    if (!pair.is_array() || pair.size() != 2) object.refuse(ErrorCode::kDamagedFile, key, "an entry that is not a [height, width] pair");
    // Wrapped so that the pair's numbers get the same checks as fields.
    const Json entry = {{"pair", pair}};
    const std::vector<std::int64_t> numbers = JsonObject(entry, object.file(), key).integers("pair", 1, kMaxSidePx, 2);
    if (numbers[0] * numbers[1] > kMaxGridPixels) object.refuse(ErrorCode::kLimitExceeded, key, "a resolution of more than 16 Mpx");
    pinpoints.push_back({numbers[0], numbers[1]});
  }
  return pinpoints;
}

std::span<const WeightNameRule> llava_weight_name_rules() {
  static constexpr std::array<WeightNameRule, 8> kRules = {{
      {"model.language_model.", "language_model.model."},
      {"model.vision_tower.vision_model.", "vision_tower.vision_model."},
      {"model.vision_tower.", "vision_tower.vision_model."},
      {"vision_tower.vision_model.", "vision_tower.vision_model."},
      {"vision_tower.", "vision_tower.vision_model."},
      {"model.multi_modal_projector.", "multi_modal_projector."},
      {"model.image_newline", "image_newline"},
      {"lm_head.", "language_model.lm_head."},
  }};
  return kRules;
}

}  // namespace winnow
