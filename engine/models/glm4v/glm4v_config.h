// Everything that a Glm4vForConditionalGeneration, Glm46VForConditionalGeneration or Glm4vMoeForConditionalGeneration folder says about
// itself, checked. Read by glm4v.h before a weight is loaded.
//
// The first two classes have the same network, the third the decoder of GLM-4.5 behind the same tower. How frames are told their times
// follows the processor's class where a file names it, as in transformers, else the model's. Bounds count the pixels of all frames of a set
// (CountedPixels::kOfSets); which frames are read is the frame plan's matter: fps, num_frames and max_duration are not looked at. Ids of
// the marks around a whole video are not read: the template writes these tokens. Errors as in qwen3_vl_config.h. No torch. Threads: plain
// values.
#pragma once

#include <string>

#include "engine/models/qwen3_vl/qwen3_vl_config.h"

namespace winnow {

// file: where `config` came from, for errors.
Qwen3VlConfig parse_glm4v_config(const Json& config, const std::string& file);

Qwen3VlFolder read_glm4v(const ModelPackage& package);

}  // namespace winnow
