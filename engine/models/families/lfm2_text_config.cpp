#include "engine/models/families/lfm2_text_config.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/rotary_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostKernel = 64;
constexpr double kMostFactor = 1024.0;

DecoderNames lfm2_names() {
  DecoderNames names;
  names.final_norm = "model.embedding_norm";
  names.input_norm = "operator_norm";
  names.query_norm = "self_attn.q_layernorm";
  names.key_norm = "self_attn.k_layernorm";
  names.output = "self_attn.out_proj";
  names.mlp_norm = "ffn_norm";
  names.gate = "feed_forward.w1";
  names.up = "feed_forward.w3";
  names.down = "feed_forward.w2";
  names.mixer = "conv";
  return names;
}

// Lfm2MLP's, whose quotient and product are cut to whole numbers.
std::int64_t read_inner_size(const JsonObject& text) {
  const char* const key = text.has("block_ff_dim") ? "block_ff_dim" : "intermediate_size";
  std::int64_t size = text.integer(key, 1, kMaxIntermediate);
  if (!text.boolean("block_auto_adjust_ff_dim", true)) return size;
  size = 2 * size / 3;
  if (text.has("block_ffn_dim_multiplier") || !text.says("block_ffn_dim_multiplier")) {
    size = static_cast<std::int64_t>(text.real("block_ffn_dim_multiplier", 0.0, kMostFactor, 1.0) * static_cast<double>(size));
    const std::int64_t multiple = text.integer("block_multiple_of", 1, kMaxIntermediate, 256);
    size = (size + multiple - 1) / multiple * multiple;
  }
  if (size < 1 || size > kMaxIntermediate)
    text.refuse(ErrorCode::kDamagedFile, key, "it makes an MLP of " + std::to_string(size) + " elements");
  return size;
}

// layer_types, or those that full_attn_idxs does not name; all layers attend where neither is there.
std::vector<bool> read_convolved(const JsonObject& text, std::int64_t layers) {
  const char* const key = text.has("layer_types") ? "layer_types" : "full_attn_idxs";
  std::vector<bool> convolved = read_layer_types(text, layers, "conv");
  if (convolved.empty() && text.has(key)) {
    convolved.assign(static_cast<std::size_t>(layers), true);
    for (const std::int64_t attends : text.integers(key, 0, layers - 1, static_cast<std::size_t>(layers)))
      convolved[static_cast<std::size_t>(attends)] = false;
  }
  if (!convolved.empty() && std::ranges::all_of(convolved, std::identity()))
    unsupported(text, key, "a model of which no layer attends has no cache to compress and does not run");
  return std::ranges::none_of(convolved, std::identity()) ? std::vector<bool>() : convolved;
}

}  // namespace

DecoderConfig parse_lfm2_config(const JsonObject& text) {
  require_model_type(text, "lfm2", true);
  DecoderConfig config;
  config.names = lfm2_names();
  config.query_key_norm = true;
  config.hidden_size = text.integer("hidden_size", 1, kMaxHidden);
  config.intermediate_size = read_inner_size(text);
  config.layers = text.integer("num_hidden_layers", 1, kMaxLayers);
  config.heads = text.integer("num_attention_heads", 1, kMaxHeads);
  config.kv_heads = text.integer("num_key_value_heads", 1, kMaxHeads, 8);
  require_whole_groups(text, "num_key_value_heads", config.heads, config.kv_heads);
  config.head_dim = read_head_dim(text, config.hidden_size, config.heads);
  if (config.head_dim % 2 != 0) text.refuse(ErrorCode::kDamagedFile, "head_dim", "rotary positions need an even head size");
  config.norm_eps = text.real("norm_eps", kMinEpsilon, 1.0, 1e-5);
  config.max_positions = text.integer("max_position_embeddings", 1, kMaxPositions, 128'000);
  const RotaryConfig rotary = read_rotary(text, config.head_dim, config.max_positions, {1'000'000.0});
  config.rotary = rotary.scheme;
  config.max_positions = rotary.max_positions;
  config.recurrent = read_convolved(text, config.layers);
  config.short_conv = {text.integer("conv_L_cache", 2, kMostKernel, 3), text.boolean("conv_bias", false)};
  config.vocabulary = text.integer("vocab_size", 1, kMaxVocabulary);
  config.tie_word_embeddings = text.boolean(text.has("tie_embedding") ? "tie_embedding" : "tie_word_embeddings", true);
  return config;
}

}  // namespace winnow
