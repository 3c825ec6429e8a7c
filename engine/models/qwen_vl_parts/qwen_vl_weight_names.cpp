#include "engine/models/qwen_vl_parts/qwen_vl_weight_names.h"

#include <array>

namespace winnow {

std::span<const WeightNameRule> qwen_vl_weight_name_rules() {
  static constexpr std::array<WeightNameRule, 2> kRules = {{
      {"model.language_model.", "model."},
      {"model.visual.", "visual."},
  }};
  return kRules;
}

}  // namespace winnow
