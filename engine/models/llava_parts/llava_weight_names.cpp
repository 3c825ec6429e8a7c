#include "engine/models/llava_parts/llava_weight_names.h"

#include <array>

namespace winnow {

std::span<const WeightNameRule> llava_weight_name_rules() {
  static constexpr std::array<WeightNameRule, 5> kRules = {{
      {"model.language_model.", "language_model.model."},
      {"model.vision_tower.", "vision_tower."},
      {"model.multi_modal_projector.", "multi_modal_projector."},
      {"model.image_newline", "image_newline"},
      {"lm_head.", "language_model.lm_head."},
  }};
  return kRules;
}

}  // namespace winnow
