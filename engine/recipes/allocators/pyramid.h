// Budgets fall linearly with depth (PyramidKV, Cai et al., arXiv 2406.02069, equations 4-5; class of KVCache-Factory).
//
// With the mean budget b = total / layers: be = b - window, mn = be / beta, mx = 2 be - mn, mx at most scope - window (then mn = 2 be -
// mx); layer l gets window + mx - l (mx - mn) / (layers - 1), made integers by largest remainder. be <= 0: the same for every layer.
// Deviations: no integer floors on the way (the total is exact), no switch to equal budgets for short prompts. Where more than the window
// is protected (pinned tokens), the pyramid stands on all of it.
#pragma once

#include <algorithm>
#include <numeric>

#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/budget.h"
#include "engine/recipes/composition.h"

namespace winnow {

class PyramidAllocator : public Allocator {
 public:
  PyramidAllocator(std::int64_t window, double beta) : window_(window), beta_(beta) {}
  std::string name() const override { return "pyramid"; }
  std::optional<Refusal> fits(const Composition& parts) const override {
    if (parts.scope == Scope::kVisual) {
      if (parts.protection.window > 0) return Refusal{"scope", "the pyramid's window lies outside the visual tokens"};
      return std::nullopt;
    }
    if (!parts.scorer->observes_from_a_window())
      return Refusal{"allocator", "a pyramid is made around an observation window; take the scorer window-votes"};
    return std::nullopt;
  }
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override { return std::vector<double>(measured.size(), 1.0); }
  std::optional<std::vector<std::int64_t>> budgets(std::span<const LayerMeasure> measured, const BudgetBounds& bounds) const override {
    const auto layers = static_cast<double>(measured.size());
    // A layer's lower bound is what is protected and one slot more.
    const std::int64_t guarded = *std::min_element(bounds.low.begin(), bounds.low.end()) - 1;
    const auto window = static_cast<double>(std::max(window_, guarded));
    const double mean = static_cast<double>(bounds.total) / layers;
    const double beyond = mean - window;
    if (beyond <= 0.0 || measured.size() == 1) return std::nullopt;
    double least = beyond / beta_;
    double most = 2.0 * beyond - least;
    const double room = static_cast<double>(bounds.scope_tokens) - window;
    if (most > room) {
      most = room;
      least = 2.0 * beyond - most;
    }
    std::vector<double> wanted;
    for (std::size_t layer = 0; layer < measured.size(); ++layer) {
      const double real = window + most - static_cast<double>(layer) * (most - least) / (layers - 1.0);
      wanted.push_back(std::clamp(real, static_cast<double>(bounds.low[layer]), static_cast<double>(bounds.high[layer])));
    }
    // Layers that were lifted to their bound take it from the others.
    const double sum = std::accumulate(wanted.begin(), wanted.end(), 0.0);
    if (sum > static_cast<double>(bounds.total) + 1e-6) return allocate(wanted, bounds.total, bounds.low, bounds.high);
    return round_to_total(wanted, bounds.total, bounds.high);
  }

 private:
  std::int64_t window_;
  double beta_;
};

}  // namespace winnow
