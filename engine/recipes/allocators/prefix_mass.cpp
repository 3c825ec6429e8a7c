#include "engine/recipes/allocators/prefix_mass.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

#include "engine/recipes/budget.h"
#include "engine/recipes/composition.h"

namespace winnow {

namespace {

// Equal masses must tie whatever their last bits say.
double rounded(double mass) { return std::round(mass * 1e12) * 1e-12; }

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

std::optional<Refusal> fits_shares_of_mass(const std::string& name, const Composition& parts) {
  if (!parts.scorer->sums_attention())
    return Refusal{"allocator", name + " needs a score made of column sums; " + parts.scorer->name() + " is not"};
  if (parts.phase == MethodPhase::kDecode) return Refusal{"allocator", name + " is made for one event; this method evicts while decoding"};
  return std::nullopt;
}

std::optional<Refusal> PrefixMassAllocator::fits(const Composition& parts) const { return fits_shares_of_mass(name(), parts); }

LayerMeasure cumulative_mass(std::span<const float> scores) {
  std::vector<double> sorted;
  for (const float score : scores) sorted.push_back(std::isfinite(score) ? std::max(0.0, static_cast<double>(score)) : 0.0);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  LayerMeasure mass = {0.0};
  double so_far = 0.0;
  for (const double score : sorted) {
    so_far += score;
    mass.push_back(sum > 0.0 ? so_far / sum : static_cast<double>(mass.size()) / static_cast<double>(sorted.size()));
  }
  return mass;
}

StatisticsNeeds PrefixMassAllocator::needs() const {
  StatisticsNeed need{.rows = RowRule::all(), .column_sums = true};
  return {{need}, {}, {}};
}

LayerMeasure PrefixMassAllocator::measure(const LayerStatistics& statistics, const SegmentInfo&) const {
  return cumulative_mass(mean_over_heads(statistics.at(RowRule::all()).column_sums).row(0));
}

std::optional<std::vector<std::int64_t>> PrefixMassAllocator::budgets(std::span<const LayerMeasure> measured,
                                                                      const BudgetBounds& bounds) const {
  std::vector<std::int64_t> budgets = bounds.low;
  std::int64_t left = bounds.total - std::accumulate(budgets.begin(), budgets.end(), std::int64_t{0});
  using Entry = std::pair<double, std::size_t>;  // least mass first, then the lower layer
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting;
  const auto mass_of = [&](std::size_t layer) {
    const std::int64_t guarded = bounds.guarded.empty() ? 0 : bounds.guarded[layer];
    return rounded(measured[layer].at(static_cast<std::size_t>(budgets[layer] - guarded)));
  };
  for (std::size_t layer = 0; layer < measured.size(); ++layer) {
    if (budgets[layer] < bounds.high[layer]) waiting.emplace(mass_of(layer), layer);
  }
  for (; left > 0 && !waiting.empty(); --left) {
    const std::size_t layer = waiting.top().second;
    waiting.pop();
    if (++budgets[layer] < bounds.high[layer]) waiting.emplace(mass_of(layer), layer);
  }
  return budgets;
}

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
