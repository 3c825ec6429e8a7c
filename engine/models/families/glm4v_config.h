// Everything that a Glm4vForConditionalGeneration, Glm46VForConditionalGeneration or Glm4vMoeForConditionalGeneration folder says about
// itself, checked. Read by qwen3_vl.cpp before a weight is loaded.
//
// The first two classes have the same network, the third the decoder of GLM-4.5 behind the same tower. How frames are told their times
// follows the processor's class where a file names it, as in transformers, else the model's. Bounds count the pixels of all frames of a set
// (CountedPixels::kOfSets); which frames are read is the frame plan's matter: fps, num_frames and max_duration are not looked at. Ids of
// the marks around a whole video are not read: the template writes these tokens. Errors as in qwen3_vl_config.h. No torch. Threads: plain
// values.
#pragma once

#include <string>
#include <string_view>

#include "engine/models/config/decoder_config.h"
#include "engine/models/families/qwen3_vl_config.h"

namespace winnow {

// The configuration of GLM-4's decoder, read from config.json (`text_config` of GLM-4V) and checked. A layer has four norms, gate and up
// are one matrix, and neighbours are rotary pairs of the first part of a head. GGUF files of models that see have them as halves
// (rotary_pairs_in_halves of gguf_config.h). With experts (GLM-4.5) a layer is a Llama's, whose pairs are halves; the weights tell which
// layers have experts, so first_k_dense_replace is not read. Follows transformers 5.24, of which the model that sees has no norms of
// queries and keys (use_qk_norm).

inline constexpr std::string_view kGlm4MoeType = "glm4_moe";  // of text alone

// Positions have one axis. assumed_type: the model_type of files that name none.
DecoderConfig parse_glm4_text_config(const JsonObject& text, std::string_view assumed_type);

// file: where `config` came from, for errors.
Qwen3VlConfig parse_glm4v_config(const Json& config, const std::string& file);

Qwen3VlFolder read_glm4v(const ModelPackage& package);

}  // namespace winnow
