#include "engine/recipes/allocators/fixed_shares.h"

#include <algorithm>
#include <cmath>

#include "engine/recipes/allocators/prefix_mass.h"
#include "engine/recipes/budget.h"

namespace winnow {

namespace {

std::vector<double> read_off_by_depth(const std::vector<double>& shares, std::size_t layers) {
  std::vector<double> found;
  const double last = static_cast<double>(shares.size() - 1);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const double depth = layers > 1 ? static_cast<double>(layer) / static_cast<double>(layers - 1) * last : 0.0;
    const auto below = static_cast<std::size_t>(std::floor(depth));
    const std::size_t above = std::min(below + 1, shares.size() - 1);
    const double part = depth - std::floor(depth);
    found.push_back((1.0 - part) * shares[below] + part * shares[above]);
  }
  return found;
}

}  // namespace

std::optional<Refusal> FixedSharesAllocator::fits(const Composition& parts) const {
  if (profile_.empty()) {
    return Refusal{
        "profile",
        "this model has no shares of its layers measured at several retentions (prefixkv_profile in winnow.json; the one row of an older "
        "prefixkv_shares fits one retention only and is not used); give them as the option profile=0.1=0.05:0.15/0.5=0.4:0.6"};
  }
  return fits_shares_of_mass(name(), parts);
}

std::optional<std::vector<std::int64_t>> FixedSharesAllocator::budgets(std::span<const LayerMeasure> measured,
                                                                       const BudgetBounds& bounds) const {
  if (profile_.empty()) return std::nullopt;
  return allocate(read_off_by_depth(shares_at(profile_, bounds.retention), measured.size()), bounds.total, bounds.low, bounds.high);
}

}  // namespace winnow
