#include "engine/models/qwen2_config.h"

#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/models/config_fields.h"
#include "engine/models/generation_defaults.h"

namespace winnow {
namespace {

constexpr std::int64_t kMaxPositions = 16'777'216;

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

}  // namespace

Qwen2Config parse_qwen2_config(const JsonObject& text) {
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
  config.rotary.theta = read_rope_theta(text);
  config.max_positions = text.integer("max_position_embeddings", 1, kMaxPositions, config.max_positions);
  config.vocabulary = text.integer("vocab_size", 1, kMaxVocabulary);
  config.tie_word_embeddings = text.boolean("tie_word_embeddings", false);
  config.activation = read_activation(text, "hidden_act", "silu");
  refuse_sliding_window(text, config.layers);
  config.eos_token_ids = read_token_ids(text, "eos_token_id", config.vocabulary);
  return config;
}

}  // namespace winnow
