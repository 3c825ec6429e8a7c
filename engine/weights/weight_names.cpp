#include "engine/weights/weight_names.h"

namespace winnow {

std::string canonical_weight_name(std::string_view stored, std::span<const WeightNameRule> rules) {
  for (const WeightNameRule& rule : rules) {
    const bool fits = rule.stored.ends_with('.') ? stored.starts_with(rule.stored) : stored == rule.stored;
    if (fits) return std::string(rule.canonical).append(stored.substr(rule.stored.size()));
  }
  return std::string(stored);
}

}  // namespace winnow
