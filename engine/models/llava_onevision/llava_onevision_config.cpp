#include "engine/models/llava_onevision/llava_onevision_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/config_fields.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxFeatureStates = 16;
constexpr std::int64_t kDefaultImageToken = 151'646;
constexpr std::int64_t kDefaultVideoToken = 151'647;

// One layer number or a list; negative ones count from the end, as in transformers.
std::vector<std::int64_t> read_feature_states(const JsonObject& root, std::int64_t layers) {
  const std::int64_t states = layers + 1;
  std::vector<std::int64_t> chosen;
  if (!root.has("vision_feature_layer")) {
    chosen = {-1};
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

std::int64_t read_max_tiles(const JsonObject& root) {
  constexpr std::string_view kPrefix = "anyres_max_";
  const std::string ratio = root.string("vision_aspect_ratio", kMaxNameBytes, "anyres_max_9");
  std::int64_t tiles = 0;
  const std::string_view digits = ratio.starts_with(kPrefix) ? std::string_view(ratio).substr(kPrefix.size()) : std::string_view();
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), tiles);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || tiles < 1 || tiles > 1024) {
    unsupported(root, "vision_aspect_ratio", quoted_name(ratio) + " is not anyres_max_N with N from 1 to 1024");
  }
  return tiles;
}

void require_agreement(bool agree, const std::string& file, const char* key, const char* reason) {
  if (!agree) throw Exception(ErrorCode::kDamagedFile, file + ": " + key, reason);
}

// transformers reads some facts twice, from the model's and from the processor's files, and fails in the middle of a run when they differ.
void check_agreement(const LlavaOnevisionFolder& folder, const ModelPackage& package) {
  const LlavaOnevisionConfig& model = folder.model;
  const ProcessorConfig& processor = folder.processor;
  const std::string preparation = package.subject(ModelPart::kImageProcessor);
  const std::string combined = package.subject(ModelPart::kProcessor);
  const PixelSize side{model.vision.image_size_px, model.vision.image_size_px};
  require_agreement(processor.image.size == side, preparation, "size", "it differs from the vision tower's image_size");
  require_agreement(processor.video.size == side, package.subject(ModelPart::kVideoProcessor), "size",
                    "it differs from the vision tower's image_size");
  require_agreement(processor.image.grid_pinpoints == model.grid.pinpoints, preparation, "image_grid_pinpoints",
                    "it differs from config.json");
  const std::int64_t patches = model.vision.patches_per_side * model.vision.patches_per_side;
  require_agreement(processor.image_tokens.value_or(patches) == patches, combined, "num_image_tokens",
                    "it differs from the number of patches");
  const char* strategy = model.select_strategy == FeatureSelectStrategy::kFull ? "full" : "default";
  require_agreement(processor.feature_select_strategy.value_or(strategy) == strategy, combined, "vision_feature_select_strategy",
                    "it differs from config.json");
  const std::string ratio = "anyres_max_" + std::to_string(model.grid.max_tiles);
  require_agreement(processor.aspect_ratio.value_or(ratio) == ratio, combined, "vision_aspect_ratio", "it differs from config.json");
}

}  // namespace

LlavaOnevisionConfig parse_llava_onevision_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  require_model_type(root, "llava_onevision", false);
  LlavaOnevisionConfig config;
  config.text = parse_decoder_config(root.object("text_config"), "qwen2");
  config.vision = parse_siglip_config(root.object("vision_config"));
  config.text.tie_word_embeddings = config.text.tie_word_embeddings || root.boolean("tie_word_embeddings", false);
  config.projector_activation = read_activation(root, "projector_hidden_act", "gelu");
  config.projector_bias = root.boolean("multimodal_projector_bias", true);
  config.feature_states = read_feature_states(root, config.vision.layers);
  config.select_strategy = strategy_of(root.string("vision_feature_select_strategy", kMaxNameBytes, "full"), root);
  config.grid.pinpoints = root.has("image_grid_pinpoints") ? read_grid_pinpoints(root, "image_grid_pinpoints") : default_grid_pinpoints();
  config.grid.side_px = config.vision.image_size_px;
  config.grid.patches_per_side = config.vision.patches_per_side;
  config.grid.max_tiles = read_max_tiles(root);
  config.grid.drop_first_feature = config.select_strategy == FeatureSelectStrategy::kDefault;
  config.image_token_id = read_media_token(root, {"image_token_index", "image_token_id"}, kDefaultImageToken, config.text.vocabulary);
  config.video_token_id = read_media_token(root, {"video_token_index", "video_token_id"}, kDefaultVideoToken, config.text.vocabulary);
  if (config.image_token_id == config.video_token_id) {
    root.refuse(ErrorCode::kDamagedFile, "video_token_index", "images and videos have the same token");
  }
  return config;
}

LlavaOnevisionFolder read_llava_onevision(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  LlavaOnevisionFolder read;
  read.model = parse_llava_onevision_config(config.content, config.subject);
  read.processor = read_processor_config(package);
  check_agreement(read, package);
  return read;
}

}  // namespace winnow
