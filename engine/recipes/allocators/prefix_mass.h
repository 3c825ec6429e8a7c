// Every layer keeps the same share of its attention mass (PrefixKV, Wang et al., arXiv 2412.03409, algorithm 1; code THU-MIG/PrefixKV,
// prefixkv.py).
//
// Scores as Elastic Cache: column sums of all rows, mean over all heads. Sorted descending and normalised they give each layer's cumulative
// mass; starting from the lower bounds, the layer with the least retained mass gets the next slot until the total is spent. That is the
// common mass level found by bisection, completed greedily. Protected slots come on top: a budget of k holds the mass of the best
// k - protected, as the authors count. Deviation: exact total instead of a tolerance with rescaling.
#pragma once

#include <utility>

#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/measured_options.h"

namespace winnow {

class PrefixMassAllocator : public Allocator {
 public:
  std::string name() const override { return "prefix-mass"; }
  std::optional<Refusal> fits(const Composition& parts) const override;
  StatisticsNeeds needs() const override;
  LayerMeasure measure(const LayerStatistics& statistics, const SegmentInfo& segment) const override;  // cumulative mass, n + 1 numbers
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override { return std::vector<double>(measured.size(), 1.0); }
  std::optional<std::vector<std::int64_t>> budgets(std::span<const LayerMeasure> measured, const BudgetBounds& bounds) const override;
};

// For allocators that share out slots by attention mass (name: theirs): one event, and scores that are parts of that mass.
std::optional<Refusal> fits_shares_of_mass(const std::string& name, const Composition& parts);

// Cumulative mass of scores sorted descending, normalised: entry k is the share of the best k. Negative and non-finite scores count as 0.
LayerMeasure cumulative_mass(std::span<const float> scores);

// Shares per layer that were measured beforehand at several retentions (PrefixKV's profile mode, arXiv 2412.03409; code THU-MIG/PrefixKV
// ships one file per retention): the row of the asked retention, or the line between its neighbours, never one row scaled to another
// budget. Shares of a model with another number of layers are read off by relative depth.
class FixedSharesAllocator : public Allocator {
 public:
  // Empty: not measured, which a recipe refuses.
  explicit FixedSharesAllocator(ShareProfile profile) : profile_(std::move(profile)) {}
  std::string name() const override { return "fixed-shares"; }
  std::optional<Refusal> fits(const Composition& parts) const override;
  // Asked only where the bounds alone decide.
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override { return std::vector<double>(measured.size(), 1.0); }
  std::optional<std::vector<std::int64_t>> budgets(std::span<const LayerMeasure> measured, const BudgetBounds& bounds) const override;

 private:
  ShareProfile profile_;
};

}  // namespace winnow
