// Layers whose attention is dense get more: weight = 1 - share of near-zero entries (VL-Cache, arXiv 2410.23317, section 4.1).
#pragma once

#include "engine/recipes/allocators/allocator.h"

namespace winnow {

class SparsityAllocator : public Allocator {
 public:
  // p: an entry is near zero below p times its row's maximum.
  SparsityAllocator(RowRule rows, double p) : rows_(rows), p_(p) {}
  std::string name() const override { return "sparsity"; }
  StatisticsNeeds needs() const override {
    StatisticsNeed need;
    need.rows = rows_;
    need.sparsity_p = p_;
    return {{need}, {}, {}};
  }
  LayerMeasure measure(const LayerStatistics& statistics, const SegmentInfo&) const override { return {statistics.at(rows_).sparsity}; }
  std::vector<std::string> measure_names() const override { return {"sparsity"}; }
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override {
    std::vector<double> weights;
    for (const LayerMeasure& layer : measured) weights.push_back(1.0 - layer.at(0));
    return weights;
  }

 private:
  RowRule rows_;
  double p_;
};

}  // namespace winnow
