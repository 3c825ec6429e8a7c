// Reads the mixer of a layer without slots from a model's weights. Used by transformer_decoder.h.
//
// Names as transformers has them for Qwen3.5 (queries, keys and values in one matrix, gates in another), for Qwen3-Next (all of them in
// one, key head by key head) and for LFM2, or as GGUF files do (A in place of its logarithm). Errors: kDamagedFile naming the tensor.
// Threads: engine thread.
#pragma once

#include <cstdint>
#include <string>

#include "engine/layers/gated_delta.h"
#include "engine/layers/short_conv.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/weights/weight_reader.h"

namespace winnow {

// own: what the names begin with, "model.layers.0.linear_attn."; hidden: the model's; epsilon: of the norm of what is read.
GatedDelta read_gated_delta(WeightReader& weights, const std::string& own, const DeltaSizes& sizes, std::int64_t hidden, double epsilon);
// own: "model.layers.0.conv."
ShortConv read_short_conv(WeightReader& weights, const std::string& own, const ShortConvSizes& sizes, std::int64_t hidden);

}  // namespace winnow
