// Reads a short convolution (short_conv.h) from a model's weights. Used by transformer_decoder.h.
//
// Names as transformers has them for LFM2. Errors: kDamagedFile naming the tensor. Threads: engine thread.
#pragma once

#include <cstdint>
#include <string>

#include "engine/layers/short_conv.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/weights/weight_reader.h"

namespace winnow {

// own: what the names begin with, "model.layers.0.conv."; hidden: the model's.
ShortConv read_short_conv(WeightReader& weights, const std::string& own, const ShortConvSizes& sizes, std::int64_t hidden);

}  // namespace winnow
