// One name per weight, whichever transformers version saved it.
//
// transformers up to 4.51 and save_pretrained of 5.x write `language_model.model.layers...`, `language_model.lm_head.weight`,
// `vision_tower...`; folders saved between them have `model.language_model.layers...`, `lm_head.weight`, `model.vision_tower...`. The first
// is canonical here. A rule replaces a leading part of the stored name; the first that fits is applied, once. No torch. Plain functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace winnow {

struct WeightNameRule {
  std::string_view stored;     // ends with a dot, or is a whole name
  std::string_view canonical;  // replaces it
};

// LLaVA families: text decoder, vision tower, projector, image_newline.
std::span<const WeightNameRule> llava_weight_name_rules();

std::string canonical_weight_name(std::string_view stored, std::span<const WeightNameRule> rules);

}  // namespace winnow
