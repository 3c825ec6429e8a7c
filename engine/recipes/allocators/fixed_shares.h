// Shares per layer that were measured beforehand at several retentions (PrefixKV's profile mode, arXiv 2412.03409; code THU-MIG/PrefixKV
// ships one file per retention): the row of the asked retention, or the line between its neighbours, never one row scaled to another
// budget. Shares of a model with another number of layers are read off by relative depth.
#pragma once

#include <utility>

#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/share_profile.h"

namespace winnow {

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
