// The configuration of GLM-4's decoder, read from config.json (`text_config` of GLM-4V) and checked.
//
// Read by glm4v_config.h and causal_lm.h. A layer has four norms, gate and up are one matrix, and neighbours are rotary pairs of the first
// part of a head. GGUF files of models that see have them as halves (rotary_pairs_in_halves of gguf_config.h). With experts (GLM-4.5) a
// layer is a Llama's, whose pairs are halves; the weights tell which layers have experts, so first_k_dense_replace is not read. Follows
// transformers 5.24, of which the model that sees has no norms of queries and keys (use_qk_norm).
// Errors: as config_fields.h. No torch. Threads: plain values.
#pragma once

#include <string_view>

#include "engine/models/decoder_config.h"

namespace winnow {

inline constexpr std::string_view kGlm4MoeType = "glm4_moe";  // of text alone

// Positions have one axis. assumed_type: the model_type of files that name none.
DecoderConfig parse_glm4_text_config(const JsonObject& text, std::string_view assumed_type);

}  // namespace winnow
