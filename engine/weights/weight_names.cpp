#include "engine/weights/weight_names.h"

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

std::string canonical_weight_name(std::string_view stored, std::span<const WeightNameRule> rules) {
  for (const WeightNameRule& rule : rules) {
    const bool fits = rule.stored.ends_with('.') ? stored.starts_with(rule.stored) : stored == rule.stored;
    if (fits) return std::string(rule.canonical).append(stored.substr(rule.stored.size()));
  }
  return std::string(stored);
}

}  // namespace winnow
