// Gemma 3's text configuration as a decoder's (transformers' Gemma3TextConfig and Gemma3DecoderLayer).
//
// Read by the registry's loader of Gemma3ForCausalLM. Four norms a layer, stored as what is added to one; norms of q and k; embeddings
// times sqrt(hidden size); layers that look back over a window, with rotary positions of their own, between such that look back over
// everything (layer_types, or sliding_window_pattern: every so many layers one of these). Keys of transformers 4 (rope_local_base_freq,
// rope_scaling) and 5 (rope_parameters by layer type) are read; what a published file leaves out is as Gemma3TextConfig has it. Refused by
// name: bounded attention logits, which transformers' Gemma 3 reads and leaves aside, and text that attends to what follows it. Errors: as
// config_fields.h. No torch. Threads: plain function.
#pragma once

#include "engine/base/json_document.h"
#include "engine/models/config/decoder_config.h"

namespace winnow {

DecoderConfig parse_gemma3_config(const JsonObject& text);

}  // namespace winnow
