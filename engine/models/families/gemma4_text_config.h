// Gemma 4's text configuration as a decoder's (transformers' Gemma4TextConfig and Gemma4TextDecoderLayer, and those of Gemma4Unified).
//
// Read by gemma4_folder.h and the registry's loader of Gemma4ForCausalLM. As Gemma 3 but for this: norms are stored as they are, values are
// normalised too, attention is not scaled, layers end with a factor and in E2B and E4B with an input of their own before it
// (layer_inputs.h). Heads of layers that look back over everything are longer than those under a window, and rotate in a part of their
// pairs ("proportional"). The last layers of E2B and E4B borrow keys and values, and their MLPs may be twice as wide. From 12B on layers
// that look back over everything have fewer KV heads than the others and no v_proj (attention_k_eq_v), 26B-A4B has experts beside every
// MLP, and pictures see themselves, under a window only. The last layer always looks back over everything. Refused by name: text that
// attends to what follows it, layers of one kind that differ, layers that borrow beside layers with KV heads of their own. Errors: as
// config_fields.h. No torch. Threads: plain function.
#pragma once

#include "engine/base/json_document.h"
#include "engine/models/config/decoder_config.h"

namespace winnow {

DecoderConfig parse_gemma4_config(const JsonObject& text);
// True if a picture's tokens attend to all of that picture in layers with a window.
bool pictures_see_themselves(const JsonObject& text);

}  // namespace winnow
