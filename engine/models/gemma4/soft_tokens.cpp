#include "engine/models/gemma4/soft_tokens.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace winnow {

SoftTokenRules of_budget(std::int64_t tokens, SoftTokenRules rules) {
  if (tokens == 0) return rules;
  rules.budget = kSoftTokenBudgets.front();
  for (const std::int64_t budget : kSoftTokenBudgets) {
    if (budget <= std::min(tokens, rules.most)) rules.budget = budget;
  }
  return rules;
}

TokenGrid soft_token_grid(PixelSize picture, const SoftTokenRules& rules) {
  if (picture.height_px < 1 || picture.width_px < 1) throw Exception(ErrorCode::kInvalidArgument, "image", "it has no area");
  const auto side = static_cast<double>(rules.token_px());
  const auto height = static_cast<double>(picture.height_px);
  const auto width = static_cast<double>(picture.width_px);
  const auto most_px = static_cast<double>(rules.budget * rules.token_px() * rules.token_px());
  const double factor = std::sqrt(most_px / (height * width));
  const auto whole = [&](double px) { return static_cast<std::int64_t>(std::floor(factor * px / side)); };
  // A picture that is too long for its shape is a strip of tokens.
  const auto strip = [&](double longer, double shorter) {
    return std::min(static_cast<std::int64_t>(std::floor(longer / shorter)), rules.budget);
  };
  const TokenGrid grid{whole(height), whole(width)};
  if (grid.rows == 0) return {1, strip(width, height)};
  if (grid.columns == 0) return {strip(height, width), 1};
  return grid;
}

}  // namespace winnow
