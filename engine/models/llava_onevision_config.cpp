#include "engine/models/llava_onevision_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kMaxHidden = 32'768;
constexpr std::int64_t kMaxIntermediate = 262'144;
constexpr std::int64_t kMaxLayers = 256;
constexpr std::int64_t kMaxHeads = 256;
constexpr std::int64_t kMaxHeadDim = 512;
constexpr std::int64_t kMaxVocabulary = 1'000'000;
constexpr std::int64_t kMaxPositions = 16'777'216;
constexpr std::int64_t kMaxImageSide = 4096;
constexpr std::int64_t kMaxPatchSide = 64;
constexpr std::int64_t kMaxPatchesPerSide = 256;
constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kMaxFeatureStates = 16;
constexpr double kMinEpsilon = 1e-12;
constexpr std::int64_t kDefaultImageToken = 151'646;
constexpr std::int64_t kDefaultVideoToken = 151'647;

struct ActivationName {
  std::string_view name;
  Activation activation;
};

// gelu_new and gelu_fast are the tanh form written otherwise.
constexpr std::array<ActivationName, 8> kActivations = {{
    {"gelu", Activation::kGelu},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_fast", Activation::kGeluTanh},
    {"quick_gelu", Activation::kQuickGelu},
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
    {"relu", Activation::kRelu},
}};

std::string quoted_name(const std::string& name) { return "\"" + name + "\""; }

[[noreturn]] void unsupported(const JsonObject& object, const char* key, const std::string& reason) {
  object.refuse(ErrorCode::kUnsupportedModel, key, reason);
}

void require_model_type(const JsonObject& object, std::string_view wanted, bool may_be_absent) {
  const std::string type =
      may_be_absent ? object.string("model_type", kMaxNameBytes, std::string(wanted)) : object.string("model_type", kMaxNameBytes);
  if (type != wanted) unsupported(object, "model_type", quoted_name(type) + " is not a model that this program runs");
}

Activation read_activation(const JsonObject& object, const char* key, const char* fallback) {
  const std::string name = object.string(key, kMaxNameBytes, fallback);
  const auto* found = std::ranges::find(kActivations, name, &ActivationName::name);
  if (found == kActivations.end()) unsupported(object, key, quoted_name(name) + " is not a known activation");
  return found->activation;
}

std::int64_t read_head_dim(const JsonObject& object, std::int64_t hidden, std::int64_t heads) {
  if (object.has("head_dim")) return object.integer("head_dim", 1, kMaxHeadDim);
  if (hidden % heads != 0) {
    object.refuse(ErrorCode::kDamagedFile, "num_attention_heads",
                  "hidden_size " + std::to_string(hidden) + " is no multiple of " + std::to_string(heads) + " heads");
  }
  if (hidden / heads > kMaxHeadDim) object.refuse(ErrorCode::kLimitExceeded, "num_attention_heads", "heads of more than 512 channels");
  return hidden / heads;
}

// transformers 4 writes rope_theta and, for scaled variants, rope_scaling; transformers 5 writes rope_parameters.
double read_rope_theta(const JsonObject& text) {
  constexpr double kMaxTheta = 1e12;
  double theta = text.real("rope_theta", 1.0, kMaxTheta, 10'000.0);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const std::optional<JsonObject> rope = text.optional_object(key);
    if (!rope) continue;
    for (const char* type_key : {"rope_type", "type"}) {
      if (rope->string(type_key, kMaxNameBytes, "default") != "default")
        unsupported(*rope, type_key, "scaled rotary positions are not implemented");
    }
    theta = rope->real("rope_theta", 1.0, kMaxTheta, theta);
    if (rope->has("partial_rotary_factor") && rope->real("partial_rotary_factor", 0.0, 1.0) != 1.0) {
      unsupported(*rope, "partial_rotary_factor", "partial rotary positions are not implemented");
    }
  }
  return theta;
}

// Layers may only attend to everything. A window that no layer uses (max_window_layers at the end) is harmless and common.
void refuse_sliding_window(const JsonObject& text, std::int64_t layers) {
  if (text.has("layer_types")) {
    const Json& types = text.value("layer_types");
    if (!types.is_array() || types.size() != static_cast<std::size_t>(layers)) {
      text.refuse(ErrorCode::kDamagedFile, "layer_types", "it must have one entry per layer");
    }
    for (const Json& type : types) {
      if (type != "full_attention") unsupported(text, "layer_types", "only full_attention is implemented");
    }
    return;
  }
  if (text.boolean("use_sliding_window", false) && text.has("sliding_window") &&
      text.integer("max_window_layers", 0, 1'000'000, 28) < layers) {
    unsupported(text, "use_sliding_window", "sliding-window attention is not implemented");
  }
}

Qwen2Config parse_text(const JsonObject& text) {
  require_model_type(text, "qwen2", true);
  Qwen2Config config;
  config.hidden_size = text.integer("hidden_size", 1, kMaxHidden);
  config.intermediate_size = text.integer("intermediate_size", 1, kMaxIntermediate);
  config.layers = text.integer("num_hidden_layers", 1, kMaxLayers);
  config.heads = text.integer("num_attention_heads", 1, kMaxHeads);
  config.kv_heads = text.integer("num_key_value_heads", 1, kMaxHeads, config.heads);
  if (config.heads % config.kv_heads != 0) {
    text.refuse(ErrorCode::kDamagedFile, "num_key_value_heads",
                std::to_string(config.heads) + " heads are no multiple of " + std::to_string(config.kv_heads) + " key-value heads");
  }
  config.head_dim = read_head_dim(text, config.hidden_size, config.heads);
  if (config.head_dim % 2 != 0) text.refuse(ErrorCode::kDamagedFile, "head_dim", "rotary positions need an even head size");
  config.rms_norm_eps = text.real("rms_norm_eps", kMinEpsilon, 1.0, config.rms_norm_eps);
  config.rope_theta = read_rope_theta(text);
  config.max_positions = text.integer("max_position_embeddings", 1, kMaxPositions, config.max_positions);
  config.vocabulary = text.integer("vocab_size", 1, kMaxVocabulary);
  config.tie_word_embeddings = text.boolean("tie_word_embeddings", false);
  config.activation = read_activation(text, "hidden_act", "silu");
  refuse_sliding_window(text, config.layers);
  config.eos_token_ids = read_token_ids(text, "eos_token_id", config.vocabulary);
  return config;
}

SiglipVisionConfig parse_vision(const JsonObject& vision) {
  require_model_type(vision, "siglip_vision_model", true);
  SiglipVisionConfig config;
  config.hidden_size = vision.integer("hidden_size", 1, kMaxHidden);
  config.intermediate_size = vision.integer("intermediate_size", 1, kMaxIntermediate);
  config.layers = vision.integer("num_hidden_layers", 1, kMaxLayers);
  config.heads = vision.integer("num_attention_heads", 1, kMaxHeads);
  config.head_dim = read_head_dim(vision, config.hidden_size, config.heads);
  if (config.head_dim * config.heads != config.hidden_size)
    vision.refuse(ErrorCode::kDamagedFile, "head_dim", "heads times head_dim must be hidden_size");
  config.image_size_px = vision.integer("image_size", 1, kMaxImageSide);
  config.patch_size_px = vision.integer("patch_size", 1, kMaxPatchSide);
  config.patches_per_side = config.image_size_px / config.patch_size_px;
  if (config.patches_per_side < 1) vision.refuse(ErrorCode::kDamagedFile, "patch_size", "a patch is larger than the image");
  if (config.patches_per_side > kMaxPatchesPerSide) vision.refuse(ErrorCode::kLimitExceeded, "patch_size", "more than 256 patches a side");
  config.channels = vision.integer("num_channels", 1, 16, 3);
  if (config.channels != 3) unsupported(vision, "num_channels", "pictures have three colours");
  config.layer_norm_eps = vision.real("layer_norm_eps", kMinEpsilon, 1.0, config.layer_norm_eps);
  config.activation = read_activation(vision, "hidden_act", "gelu_pytorch_tanh");
  config.use_head = vision.boolean("vision_use_head", true);
  return config;
}

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

std::int64_t read_media_token(const JsonObject& root, std::initializer_list<const char*> keys, std::int64_t fallback,
                              std::int64_t vocabulary) {
  const std::string key = root.first_present(keys).value_or(*keys.begin());
  const std::int64_t id = root.integer(key.c_str(), 0, kMaxVocabulary, fallback);
  if (id >= vocabulary)
    root.refuse(ErrorCode::kDamagedFile, key,
                "token " + std::to_string(id) + " is outside the vocabulary of " + std::to_string(vocabulary));
  return id;
}

void require_agreement(bool agree, const std::string& file, const char* key, const char* reason) {
  if (!agree) throw Exception(ErrorCode::kDamagedFile, file + ": " + key, reason);
}

// transformers reads some facts twice, from the model's and from the processor's files, and fails in the middle of a run when they differ.
void check_agreement(const LlavaOnevisionFolder& folder, const std::string& path) {
  const LlavaOnevisionConfig& model = folder.model;
  const ProcessorConfig& processor = folder.processor;
  const std::string preparation = path + "/preprocessor_config.json";
  const std::string combined = path + "/processor_config.json";
  const PixelSize side{model.vision.image_size_px, model.vision.image_size_px};
  require_agreement(processor.image.size == side, preparation, "size", "it differs from the vision tower's image_size");
  require_agreement(processor.video.size == side, path + "/video_preprocessor_config.json", "size",
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
  config.text = parse_text(root.object("text_config"));
  config.vision = parse_vision(root.object("vision_config"));
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

LlavaOnevisionFolder load_llava_onevision_folder(const std::string& folder) {
  const std::string path = folder + "/config.json";
  LlavaOnevisionFolder loaded;
  loaded.model = parse_llava_onevision_config(load_json(path), path);
  loaded.processor = load_processor_config(folder);
  loaded.generation = load_generation_defaults(folder, loaded.model.text.vocabulary);
  loaded.sidecar = load_winnow_sidecar(folder);
  check_agreement(loaded, folder);
  return loaded;
}

}  // namespace winnow
