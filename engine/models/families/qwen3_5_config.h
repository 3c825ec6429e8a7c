// Everything that a Qwen3_5ForConditionalGeneration or Qwen3_5MoeForConditionalGeneration folder says about itself, checked. Read by
// qwen3_vl.cpp before a weight is loaded.
//
// Its vision encoder has Qwen3-VL's keys and no deepstack layers. Published folders give it the model's own model_type. Errors as in
// qwen3_vl_config.h. No torch. Threads: plain values.
#pragma once

#include <string>

#include "engine/models/families/qwen3_vl_config.h"

namespace winnow {

// file: where `config` came from, for errors.
Qwen3VlConfig parse_qwen3_5_config(const Json& config, const std::string& file);

Qwen3VlFolder read_qwen3_5(const ModelPackage& package);

}  // namespace winnow
