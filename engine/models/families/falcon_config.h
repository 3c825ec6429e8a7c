// Falcon's config.json as a decoder's configuration (transformers' FalconConfig and FalconDecoderLayer).
//
// Read by the registry's loader of FalconForCausalLM. Falcon 7B: one kv head, the MLP beside the attention under one norm. Falcon 40B, 180B
// (new_decoder_architecture): kv heads in groups, mostly a norm for each of the two. Falcon RW's layers without parallel_attn run where
// their positions are rotary; ALiBi is refused by name. Errors: as config_fields.h. No torch. Threads: plain function.
#pragma once

#include "engine/base/json_document.h"
#include "engine/models/config/decoder_config.h"

namespace winnow {

DecoderConfig parse_falcon_config(const JsonObject& root);

}  // namespace winnow
