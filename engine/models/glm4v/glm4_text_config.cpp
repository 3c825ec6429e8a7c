#include "engine/models/glm4v/glm4_text_config.h"

namespace winnow {

DecoderConfig parse_glm4_text_config(const JsonObject& text, std::string_view assumed_type) {
  DecoderConfig config = parse_decoder_config(text, assumed_type);
  if (!text.boolean("rotary_pairs_in_halves", false)) config.pairs = RotaryPairs::kNeighbours;
  config.names.attention_out_norm = "post_self_attn_layernorm";
  config.names.mlp_out_norm = "post_mlp_layernorm";
  config.names.gate_up = "mlp.gate_up_proj";
  return config;
}

}  // namespace winnow
