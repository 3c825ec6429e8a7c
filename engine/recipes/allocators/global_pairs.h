// Global: the best scored pairs of slot and head of the whole cache stay; layers and heads compete for them.
//
// KVzip, arXiv 2505.23416, section 3.3 and Algorithm 1. Scores must be comparable between layers.
#pragma once

#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/composition.h"

namespace winnow {

class GlobalAllocator : public Allocator {
 public:
  std::string name() const override { return "global"; }
  std::optional<Refusal> fits(const Composition& parts) const override {
    if (parts.granularity == Granularity::kRagged) return std::nullopt;
    return Refusal{"granularity", "the best slots of the whole cache differ in number from head to head; this needs granularity ragged"};
  }
  bool best_of_all_layers() const override { return true; }
  // Before the scores are known: as if all layers were alike.
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override { return std::vector<double>(measured.size(), 1.0); }
};

}  // namespace winnow
