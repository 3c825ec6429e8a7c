#include "engine/models/families/gemma4_text_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/rotary_config.h"

namespace winnow {
namespace {

constexpr double kMostCap = 1e6;
constexpr std::int64_t kMostInput = 4096;
constexpr std::int64_t kMostId = (std::int64_t{1} << 24) - 1;  // of a token that brings its id along (layer_inputs.h)

DecoderNames gemma4_names() {
  return {.mlp_norm = "pre_feedforward_layernorm",
          .attention_out_norm = "post_attention_layernorm",
          .mlp_out_norm = "post_feedforward_layernorm"};
}

// True if it is the text model of Gemma4Unified, whose class knows other values for what is missing.
bool is_unified(const JsonObject& text) { return text.string("model_type", kMaxNameBytes, "") == "gemma4_unified_text"; }

std::optional<ExpertConfig> read_experts_beside_mlp(const JsonObject& text) {
  if (!text.boolean("enable_moe_block", false)) return std::nullopt;
  ExpertConfig experts{.count = text.integer("num_experts", 1, kMaxExperts), .chosen = text.integer("top_k_experts", 1, kMaxExperts)};
  if (experts.chosen > experts.count)
    text.refuse(ErrorCode::kDamagedFile, "top_k_experts", "there are " + std::to_string(experts.count) + " experts");
  experts.intermediate_size = text.integer("moe_intermediate_size", 1, kMaxIntermediate);
  return experts;
}

void read_gemma4_sizes(const JsonObject& text, DecoderConfig& config) {
  config.hidden_size = text.integer("hidden_size", 1, kMaxHidden, 2304);
  config.intermediate_size = text.integer("intermediate_size", 1, kMaxIntermediate, 9216);
  config.layers = text.integer("num_hidden_layers", 1, kMaxLayers, 30);
  config.heads = text.integer("num_attention_heads", 1, kMaxHeads, 8);
  config.kv_heads = text.integer("num_key_value_heads", 1, kMaxHeads, 4);
  require_whole_groups(text, "num_key_value_heads", config.heads, config.kv_heads);
  config.vocabulary = text.integer("vocab_size", 1, kMaxVocabulary, 262'144);
  config.max_positions = text.integer("max_position_embeddings", 1, kMaxPositions, is_unified(text) ? 262'144 : 131'072);
}

struct Gemma4TextFullHeads {
  std::int64_t head_dim = 0;
  std::int64_t kv_heads = 0;
};

std::int64_t read_head(const JsonObject& object, const char* key, std::int64_t fallback) {
  const std::int64_t head_dim = object.integer(key, 2, kMaxHeadDim, fallback);
  if (head_dim % 2 != 0) object.refuse(ErrorCode::kDamagedFile, key, "rotary positions need an even head size");
  return head_dim;
}

// For layers that look back over everything: global_head_dim and num_global_key_value_heads as published files have them, or what
// transformers 5.24 saves: the layers that differ from the rest, by their numbers.
Gemma4TextFullHeads read_full_heads(const JsonObject& text, const DecoderConfig& config) {
  Gemma4TextFullHeads wanted{read_head(text, "global_head_dim", 512), config.kv_heads};
  if (config.value_is_key) wanted.kv_heads = text.integer("num_global_key_value_heads", 1, kMaxHeads, config.kv_heads);
  require_whole_groups(text, "num_global_key_value_heads", config.heads, wanted.kv_heads);
  const std::optional<JsonObject> layers = text.optional_object("per_layer_config");
  if (!layers) return wanted;
  std::optional<Gemma4TextFullHeads> found;
  for (std::int64_t stored = 0; stored < config.layers; ++stored) {
    const std::optional<JsonObject> own = layers->optional_object(std::to_string(stored).c_str());
    Gemma4TextFullHeads heads{config.other_head_dim, config.kv_heads};
    if (own) {
      heads.head_dim = read_head(*own, "head_dim", heads.head_dim);
      heads.kv_heads = own->integer("num_key_value_heads", 1, kMaxHeads, heads.kv_heads);
      require_whole_groups(*own, "num_key_value_heads", config.heads, heads.kv_heads);
    }
    const bool slides = config.rotated_otherwise[static_cast<std::size_t>(stored)];
    const Gemma4TextFullHeads alike = slides ? Gemma4TextFullHeads{config.other_head_dim, config.kv_heads} : found.value_or(heads);
    if (heads.head_dim != alike.head_dim || heads.kv_heads != alike.kv_heads)
      unsupported(text, "per_layer_config", "only heads for all layers with a window and heads for all others are implemented");
    if (!slides) found = heads;
  }
  return found.value_or(wanted);
}

// The first pairs rotate as those of a whole head do, the rest not at all (transformers' _compute_proportional_rope_parameters).
RotaryScheme read_proportional(const JsonObject& rope, std::int64_t head_dim, double theta) {
  RotaryScheme scheme{rope.real("rope_theta", 1.0, 1e12, theta)};
  const double share = rope.real("partial_rotary_factor", 0.0, 1.0, 1.0);
  const double factor = rope.real("factor", 1e-6, 1e6, 1.0);
  const auto turning = static_cast<std::int64_t>(std::floor(share * static_cast<double>(head_dim) / 2.0));
  if (turning < 1) rope.refuse(ErrorCode::kDamagedFile, "partial_rotary_factor", "a pair of a head must be rotated");
  if (turning == head_dim / 2 && factor == 1.0) return scheme;
  for (std::int64_t pair = 0; pair < head_dim / 2; ++pair)
    scheme.divisors.push_back(pair < turning ? factor : std::numeric_limits<double>::infinity());
  return scheme;
}

void read_gemma4_positions(const JsonObject& text, DecoderConfig& config) {
  constexpr double kGlobalTheta = 1'000'000.0;
  const std::optional<JsonObject> by_type = text.optional_object("rope_parameters");
  const std::optional<JsonObject> full = by_type ? by_type->optional_object("full_attention") : std::nullopt;
  const std::optional<JsonObject> sliding = by_type ? by_type->optional_object("sliding_attention") : std::nullopt;
  const bool proportional = !full || full->string("rope_type", kMaxNameBytes, "default") == "proportional";
  if (!by_type) {
    const Json published = {{"partial_rotary_factor", 0.25}};
    config.rotary = read_proportional(JsonObject(published, text.subject("rope_parameters")), config.head_dim, kGlobalTheta);
  } else if (proportional && full) {
    config.rotary = read_proportional(*full, config.head_dim, kGlobalTheta);
  } else {
    const RotaryConfig read = read_rotary_of(text, full, config.head_dim, config.max_positions, {kGlobalTheta});
    config.rotary = read.scheme;
    config.max_positions = read.max_positions;
  }
  const RotaryConfig nearby = read_rotary_of(text, sliding, config.other_head_dim, config.max_positions, {10'000.0});
  if (!nearby.scheme.divisors.empty()) unsupported(text, "rope_parameters", "scaled positions under a window are not implemented");
  config.other_rotary = nearby.scheme;
  config.max_positions = std::min(config.max_positions, nearby.max_positions);
  if (config.other_head_dim != config.head_dim && !config.sliding)
    config.other_rotary->rotated = config.other_head_dim;  // of rows as long as the others' heads
  if (config.other_head_dim == config.head_dim || config.sliding) config.other_head_dim = 0;
}

std::int64_t gemma4_window(const JsonObject& text) {
  return text.integer("sliding_window", 2, kMaxPositions, is_unified(text) ? 1024 : 512);
}

// How the layers' heads differ. Slots of one size serve them all where only their length does.
void read_gemma4_heads(const JsonObject& text, DecoderConfig& config) {
  config.other_head_dim = read_head(text, "head_dim", 256);
  const Gemma4TextFullHeads full = read_full_heads(text, config);
  const bool slides = std::ranges::find(config.rotated_otherwise, true) != config.rotated_otherwise.end();
  const std::int64_t window = gemma4_window(text);
  if (slides && (full.kv_heads != config.kv_heads || pictures_see_themselves(text))) {
    config.sliding = SlidingHeads{config.kv_heads, config.other_head_dim, window};
  } else if (full.head_dim < config.other_head_dim) {
    unsupported(text, "global_head_dim", "heads under a window that are longer than the others are not implemented");
  }
  if (config.sliding && config.borrowing_layers > 0)
    unsupported(text, "num_kv_shared_layers", "layers that borrow keys beside layers that differ in their KV heads are not implemented");
  config.kv_heads = full.kv_heads;
  config.head_dim = full.head_dim;
}

void read_gemma4_reach(const JsonObject& text, DecoderConfig& config) {
  const std::int64_t window = gemma4_window(text);
  if (config.sliding && window >= config.max_positions)
    unsupported(text, "sliding_window", "layers that differ in their KV heads are implemented with a window only");
  if (config.sliding) return;
  std::vector<bool> own = config.rotated_otherwise;
  own.resize(static_cast<std::size_t>(config.layers - config.borrowing_layers));
  config.windows = windows_of(own, window, config.max_positions);
  if (config.borrowing_layers > 0 && config.windows.empty())
    unsupported(text, "sliding_window", "layers that borrow keys are implemented beside layers with a window only");
}

void read_borrowing(const JsonObject& text, DecoderConfig& config) {
  config.borrowing_layers = text.integer("num_kv_shared_layers", 0, kMaxLayers, 0);
  const std::int64_t own = config.layers - config.borrowing_layers;
  if (own < 1) text.refuse(ErrorCode::kDamagedFile, "num_kv_shared_layers", "no layer has keys of its own");
  const auto& kinds = config.rotated_otherwise;
  for (auto borrowing = kinds.begin() + own; borrowing != kinds.end(); ++borrowing) {
    if (std::find(kinds.begin(), kinds.begin() + own, *borrowing) == kinds.begin() + own)
      text.refuse(ErrorCode::kDamagedFile, "num_kv_shared_layers", "a layer has none of its kind before it to take keys from");
  }
  config.borrowing_intermediate_size = config.intermediate_size * (text.boolean("use_double_wide_mlp", false) ? 2 : 1);
}

void read_layer_ends(const JsonObject& text, DecoderConfig& config) {
  config.layer_factor = true;
  const std::int64_t size = is_unified(text) ? 0 : text.integer("hidden_size_per_layer_input", 0, kMostInput, 256);
  if (size == 0) return;
  LayerInputSizes inputs{size, text.integer("vocab_size_per_layer_input", 1, kMaxVocabulary, 262'144)};
  inputs.pixels_id = text.integer("pad_token_id", 0, kMaxVocabulary, 0);
  if (inputs.vocabulary < config.vocabulary || inputs.pixels_id >= inputs.vocabulary || inputs.vocabulary > kMostId)
    text.refuse(ErrorCode::kDamagedFile, "vocab_size_per_layer_input", "a token has no entry in the second table");
  config.layer_inputs = inputs;
}

void read_gemma4_windows(const JsonObject& text, DecoderConfig& config) {
  std::vector<bool>& sliding = config.rotated_otherwise;
  sliding = read_layer_types(text, config.layers);
  constexpr std::int64_t kPattern = 6;
  for (std::int64_t layer = std::ssize(sliding); layer < config.layers; ++layer) sliding.push_back((layer + 1) % kPattern != 0);
  sliding.back() = false;
}

}  // namespace

bool pictures_see_themselves(const JsonObject& text) {
  constexpr const char* kKey = "use_bidirectional_attention";
  if (!text.has(kKey)) return is_unified(text);
  if (text.string(kKey, kMaxNameBytes) != "vision") unsupported(text, kKey, "text that attends to what follows it is not implemented");
  return true;
}

DecoderConfig parse_gemma4_config(const JsonObject& text) {
  DecoderConfig config;
  config.names = gemma4_names();
  config.norm = NormKind::kWideRms;
  config.query_key_norm = true;
  config.value_norm = true;
  config.attention_scale = 1.0;
  read_gemma4_sizes(text, config);
  config.norm_eps = text.real("rms_norm_eps", kMinEpsilon, 1.0, 1e-6);
  config.embedding_scale = std::sqrt(static_cast<double>(config.hidden_size));
  config.logit_cap = text.real("final_logit_softcapping", 1e-3, kMostCap, 0.0);
  config.value_is_key = text.boolean("attention_k_eq_v", false);
  config.experts_beside = read_experts_beside_mlp(text);
  read_gemma4_windows(text, config);
  read_borrowing(text, config);
  read_gemma4_heads(text, config);
  read_gemma4_positions(text, config);
  read_gemma4_reach(text, config);
  read_layer_ends(text, config);
  config.tie_word_embeddings = text.boolean("tie_word_embeddings", true);
  config.activation = read_activation(text, "hidden_activation", "gelu_pytorch_tanh");
  return config;
}

}  // namespace winnow
