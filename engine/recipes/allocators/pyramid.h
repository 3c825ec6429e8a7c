// Budgets fall linearly with depth (PyramidKV, Cai et al., arXiv 2406.02069, equations 4-5; class of KVCache-Factory).
//
// With the mean budget b = total / layers: be = b - window, mn = be / beta, mx = 2 be - mn, mx at most scope - window (then mn = 2 be -
// mx); layer l gets window + mx - l (mx - mn) / (layers - 1), made integers by largest remainder. be <= 0: the same for every layer.
// Deviations: no integer floors on the way (the total is exact), no switch to equal budgets for short prompts. Where more than the window
// is protected (pinned tokens), the pyramid stands on all of it.
#pragma once

#include "engine/recipes/allocators/allocator.h"

namespace winnow {

class PyramidAllocator : public Allocator {
 public:
  PyramidAllocator(std::int64_t window, double beta) : window_(window), beta_(beta) {}
  std::string name() const override { return "pyramid"; }
  std::optional<Refusal> fits(const Composition& parts) const override;
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override { return std::vector<double>(measured.size(), 1.0); }
  std::optional<std::vector<std::int64_t>> budgets(std::span<const LayerMeasure> measured, const BudgetBounds& bounds) const override;

 private:
  std::int64_t window_;
  double beta_;
};

}  // namespace winnow
