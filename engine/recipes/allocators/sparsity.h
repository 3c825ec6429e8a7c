// Layers whose attention is dense get more: weight = 1 - share of near-zero entries (VL-Cache, arXiv 2410.23317, section 4.1).
#pragma once

#include "engine/recipes/allocators/allocator.h"

namespace winnow {

class SparsityAllocator : public Allocator {
 public:
  // p: an entry is near zero below p times its row's maximum.
  SparsityAllocator(RowRule rows, double p) : rows_(rows), p_(p) {}
  std::string name() const override { return "sparsity"; }
  StatisticsNeeds needs() const override;
  LayerMeasure measure(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  std::vector<std::string> measure_names() const override { return {"sparsity"}; }
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override;

 private:
  RowRule rows_;
  double p_;
};

}  // namespace winnow
