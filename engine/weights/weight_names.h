// One name per weight, whichever transformers version saved it.
//
// A rule replaces a leading part of the stored name; the first that fits is applied, once. Which rules there are the family says. No torch.
// Plain functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace winnow {

struct WeightNameRule {
  std::string_view stored;     // ends with a dot, or is a whole name
  std::string_view canonical;  // replaces it
};

std::string canonical_weight_name(std::string_view stored, std::span<const WeightNameRule> rules);

}  // namespace winnow
