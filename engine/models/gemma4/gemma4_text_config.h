// Gemma 4's text configuration as a decoder's (transformers' Gemma4TextConfig and Gemma4TextDecoderLayer): E2B, E4B and their like.
//
// Read by gemma4_folder.h. As Gemma 3 but for this: norms are stored as they are, values
// are normalised too, attention is not scaled, layers end with an input of their own (layer_inputs.h) and a factor. Heads of layers that
// look back over everything are longer than those under a window, and rotate in a part of their pairs ("proportional"). The last layers
// borrow keys and values, and their MLPs may be twice as wide. The last layer always looks back over everything. Refused by name: experts
// beside the MLP, keys that are values, layers with other KV heads, tokens that attend to later ones (26B-A4B and 31B). Errors: as
// config_fields.h. No torch. Threads: plain function.
#pragma once

#include "engine/base/json_document.h"
#include "engine/models/decoder_config.h"

namespace winnow {

DecoderConfig parse_gemma4_config(const JsonObject& text);

}  // namespace winnow
