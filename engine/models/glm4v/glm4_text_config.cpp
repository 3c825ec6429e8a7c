#include "engine/models/glm4v/glm4_text_config.h"

#include <string>

#include "engine/models/config_fields.h"

namespace winnow {

DecoderConfig parse_glm4_text_config(const JsonObject& text, std::string_view assumed_type) {
  DecoderConfig config = parse_decoder_config(text, assumed_type);
  if (config.experts) {
    config.names.shared_expert = "shared_experts";
    config.query_key_norm =
        text.string("model_type", kMaxNameBytes, std::string(assumed_type)) == kGlm4MoeType && text.boolean("use_qk_norm", false);
    return config;
  }
  if (!text.boolean("rotary_pairs_in_halves", false)) config.pairs = RotaryPairs::kNeighbours;
  config.names.attention_out_norm = "post_self_attn_layernorm";
  config.names.mlp_out_norm = "post_mlp_layernorm";
  config.names.gate_up = "mlp.gate_up_proj";
  return config;
}

}  // namespace winnow
