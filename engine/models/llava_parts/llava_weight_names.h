// Names of a LLaVA's tensors: text decoder, vision tower, projector, image_newline.
//
// transformers up to 4.51 and save_pretrained of 5.x write `language_model.model.layers...`, `language_model.lm_head.weight`,
// `vision_tower...`; folders saved between them have `model.language_model.layers...`, `lm_head.weight`, `model.vision_tower...`. The first
// is canonical here. No torch.
#pragma once

#include <span>

#include "engine/weights/weight_names.h"

namespace winnow {

std::span<const WeightNameRule> llava_weight_name_rules();

}  // namespace winnow
