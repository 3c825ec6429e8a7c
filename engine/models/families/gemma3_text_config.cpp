#include "engine/models/families/gemma3_text_config.h"

#include <cmath>
#include <optional>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/rotary_config.h"

namespace winnow {
namespace {

constexpr double kGemma3TextMostScale = 1e6;
constexpr RotaryDefaults kGlobal{1'000'000.0};
constexpr RotaryDefaults kLocal{10'000.0};

DecoderNames gemma3_names() {
  return {.mlp_norm = "pre_feedforward_layernorm",
          .attention_out_norm = "post_attention_layernorm",
          .mlp_out_norm = "post_feedforward_layernorm"};
}

void read_sizes(const JsonObject& text, DecoderConfig& config) {
  config.hidden_size = text.integer("hidden_size", 1, kMaxHidden, 2304);
  config.intermediate_size = text.integer("intermediate_size", 1, kMaxIntermediate, 9216);
  config.layers = text.integer("num_hidden_layers", 1, kMaxLayers, 26);
  config.heads = text.integer("num_attention_heads", 1, kMaxHeads, 8);
  config.kv_heads = text.integer("num_key_value_heads", 1, kMaxHeads, 4);
  require_whole_groups(text, "num_key_value_heads", config.heads, config.kv_heads);
  config.head_dim = text.integer("head_dim", 2, kMaxHidden, 256);
  if (config.head_dim % 2 != 0) text.refuse(ErrorCode::kDamagedFile, "head_dim", "rotary positions need an even head size");
  config.vocabulary = text.integer("vocab_size", 1, kMaxVocabulary, 262'208);
  config.max_positions = text.integer("max_position_embeddings", 1, kMaxPositions, 131'072);
}

// rope_parameters holds an object for each type of layer, or what transformers 4 wrote stands beside it.
void read_positions(const JsonObject& text, DecoderConfig& config) {
  const std::optional<JsonObject> by_type = text.optional_object("rope_parameters");
  const auto of_type = [&](const char* type) { return by_type ? by_type->optional_object(type) : std::nullopt; };
  RotaryDefaults global = kGlobal;
  RotaryDefaults local = kLocal;
  global.theta = text.real("rope_theta", 1.0, 1e12, global.theta);
  local.theta = text.real("rope_local_base_freq", 1.0, 1e12, local.theta);
  const std::optional<JsonObject> full = by_type ? of_type("full_attention") : text.optional_object("rope_scaling");
  const RotaryConfig everywhere = read_rotary_of(text, full, config.head_dim, config.max_positions, global);
  const RotaryConfig nearby = read_rotary_of(text, of_type("sliding_attention"), config.head_dim, config.max_positions, local);
  config.rotary = everywhere.scheme;
  config.other_rotary = nearby.scheme;
  config.max_positions = std::min(everywhere.max_positions, nearby.max_positions);
}

void gemma3_text_read_windows(const JsonObject& text, DecoderConfig& config) {
  std::vector<bool> sliding = read_layer_types(text, config.layers);
  const std::int64_t pattern = text.integer("sliding_window_pattern", 1, kMaxLayers, 6);
  for (std::int64_t layer = std::ssize(sliding); layer < config.layers; ++layer) sliding.push_back((layer + 1) % pattern != 0);
  config.rotated_otherwise = sliding;  // whether or not their window hides anything
  config.windows = windows_of(sliding, text.integer("sliding_window", 2, kMaxPositions, 4096), config.max_positions);
}

}  // namespace

DecoderConfig parse_gemma3_config(const JsonObject& text) {
  if (text.has("attn_logit_softcapping")) unsupported(text, "attn_logit_softcapping", "attention with bounded logits is not implemented");
  if (text.boolean("use_bidirectional_attention", false))
    unsupported(text, "use_bidirectional_attention", "text that attends to what follows it is not implemented");
  DecoderConfig config;
  config.names = gemma3_names();
  config.norm = NormKind::kCentredRms;
  config.query_key_norm = true;
  read_sizes(text, config);
  config.norm_eps = text.real("rms_norm_eps", kMinEpsilon, 1.0, 1e-6);
  config.attention_scale = 1.0 / std::sqrt(text.real("query_pre_attn_scalar", 1e-3, kGemma3TextMostScale, 256.0));
  config.embedding_scale = std::sqrt(static_cast<double>(config.hidden_size));
  config.logit_cap = text.real("final_logit_softcapping", 1e-3, kGemma3TextMostScale, 0.0);
  read_positions(text, config);
  gemma3_text_read_windows(text, config);
  config.tie_word_embeddings = text.boolean("tie_word_embeddings", true);
  config.activation = read_activation(text, "hidden_activation", "gelu_pytorch_tanh");
  return config;
}

}  // namespace winnow
