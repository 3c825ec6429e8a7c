// Fixed shares per layer, measured beforehand on calibration prompts (PrefixKV's profile mode). Shares of a model with another number of
// layers are read off by relative depth.
#pragma once

#include <utility>

#include "engine/recipes/allocators/allocator.h"

namespace winnow {

class FixedSharesAllocator : public Allocator {
 public:
  // shares: one per layer of the profiled model, positive; empty: not measured, which a recipe refuses.
  explicit FixedSharesAllocator(std::vector<double> shares) : shares_(std::move(shares)) {}
  std::string name() const override { return "fixed-shares"; }
  std::optional<Refusal> fits(const Composition& parts) const override;
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override;

 private:
  std::vector<double> shares_;
};

}  // namespace winnow
