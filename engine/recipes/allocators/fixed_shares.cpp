#include "engine/recipes/allocators/fixed_shares.h"

#include <algorithm>
#include <cmath>

#include "engine/recipes/allocators/prefix_mass.h"

namespace winnow {

std::optional<Refusal> FixedSharesAllocator::fits(const Composition& parts) const {
  if (shares_.empty()) {
    return Refusal{"shares",
                   "this model has no measured shares of its layers (prefixkv_shares in winnow.json); give them as the option "
                   "shares=0.5:0.3:..."};
  }
  return fits_shares_of_mass(name(), parts);
}

std::vector<double> FixedSharesAllocator::weights(std::span<const LayerMeasure> measured) const {
  if (shares_.empty()) return std::vector<double>(measured.size(), 1.0);
  std::vector<double> weights;
  const double last = static_cast<double>(shares_.size() - 1);
  for (std::size_t layer = 0; layer < measured.size(); ++layer) {
    const double depth = measured.size() > 1 ? static_cast<double>(layer) / static_cast<double>(measured.size() - 1) * last : 0.0;
    const auto below = static_cast<std::size_t>(std::floor(depth));
    const std::size_t above = std::min(below + 1, shares_.size() - 1);
    const double part = depth - std::floor(depth);
    weights.push_back((1.0 - part) * shares_[below] + part * shares_[above]);
  }
  return weights;
}

}  // namespace winnow
