#include "engine/models/families/falcon_config.h"

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/rotary_config.h"

namespace winnow {
namespace {

DecoderNames falcon_names() {
  return {.embedding = "transformer.word_embeddings",
          .layers = "transformer.h.",
          .final_norm = "transformer.ln_f",
          .query_key_value = "self_attention.query_key_value",
          .output = "self_attention.dense",
          .gate = {},
          .up = "mlp.dense_h_to_4h",
          .down = "mlp.dense_4h_to_h"};
}

void read_heads(const JsonObject& root, bool grouped, DecoderConfig& config) {
  config.heads = root.integer("num_attention_heads", 1, kMaxHeads);
  // Files of the older layout name num_kv_heads, too, and mean nothing by it.
  config.kv_heads = grouped                             ? root.integer("num_kv_heads", 1, kMaxHeads, config.heads)
                    : root.boolean("multi_query", true) ? 1
                                                        : config.heads;
  require_whole_groups(root, "num_kv_heads", config.heads, config.kv_heads);
  config.head_dim = read_head_dim(root, config.hidden_size, config.heads);
  if (config.head_dim % 2 != 0) root.refuse(ErrorCode::kDamagedFile, "hidden_size", "rotary positions need an even head size");
}

void read_norms(const JsonObject& root, bool grouped, DecoderConfig& config) {
  config.norm = NormKind::kLayer;
  config.norm_eps = root.real("layer_norm_epsilon", kMinEpsilon, 1.0, 1e-5);
  const bool parallel = grouped || root.boolean("parallel_attn", true);
  const bool both = grouped && root.integer("num_ln_in_parallel_attn", 1, 2, 2) == 2;
  config.mlp_place = both ? MlpPlace::kBesideWithNorm : parallel ? MlpPlace::kBesideAttention : MlpPlace::kAfterAttention;
  if (both) {
    config.names.input_norm = "ln_attn";
    config.names.mlp_norm = "ln_mlp";
  }
}

}  // namespace

DecoderConfig parse_falcon_config(const JsonObject& root) {
  if (root.boolean("alibi", false)) unsupported(root, "alibi", "positions by ALiBi are not implemented");
  const bool grouped = root.boolean("new_decoder_architecture", false);
  DecoderConfig config;
  config.names = falcon_names();
  config.hidden_size = root.integer("hidden_size", 1, kMaxHidden);
  config.intermediate_size = root.integer("ffn_hidden_size", 1, kMaxIntermediate, 4 * config.hidden_size);
  config.layers = root.integer("num_hidden_layers", 1, kMaxLayers);
  read_heads(root, grouped, config);
  read_norms(root, grouped, config);
  const RotaryConfig rotary = read_rotary(root, config.head_dim, root.integer("max_position_embeddings", 1, kMaxPositions, 2048));
  config.rotary = rotary.scheme;
  config.max_positions = rotary.max_positions;
  config.vocabulary = root.integer("vocab_size", 1, kMaxVocabulary);
  config.tie_word_embeddings = root.boolean("tie_word_embeddings", true);
  config.activation = read_activation(root, "activation", "gelu");
  return config;
}

}  // namespace winnow
