// The configuration of an LFM2 language model, read from config.json or an LFM2-VL's text_config: layers that attend between short
// convolutions.
//
// Describes transformer_decoder.h. Follows transformers 5.24's Lfm2Config, with the keys of published files (block_ff_dim, tie_embedding,
// full_attn_idxs) before those that it writes itself. The MLP's size is two thirds of the one that the file names, times a factor, in whole
// multiples, unless block_auto_adjust_ff_dim is false. Errors: as config_fields.h. No torch. Threads: plain values.
#pragma once

#include "engine/base/json_document.h"
#include "engine/models/config/decoder_config.h"

namespace winnow {

DecoderConfig parse_lfm2_config(const JsonObject& text);

}  // namespace winnow
