// Names of a Qwen2-VL's tensors: `model.` the language model, `visual.` the tower, `lm_head.`.
//
// That is how transformers 4 wrote them, and canonical here; 5 has `model.language_model.` and `model.visual.`. No torch.
#pragma once

#include <span>

#include "engine/weights/weight_names.h"

namespace winnow {

std::span<const WeightNameRule> qwen_vl_weight_name_rules();

}  // namespace winnow
