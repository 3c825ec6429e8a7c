#include "engine/recipes/allocators/sparsity.h"

namespace winnow {

StatisticsNeeds SparsityAllocator::needs() const {
  StatisticsNeed need;
  need.rows = rows_;
  need.sparsity_p = p_;
  return {{need}, {}, {}};
}

LayerMeasure SparsityAllocator::measure(const LayerStatistics& statistics, const SegmentInfo&) const {
  return {statistics.at(rows_).sparsity};
}

std::vector<double> SparsityAllocator::weights(std::span<const LayerMeasure> measured) const {
  std::vector<double> weights;
  for (const LayerMeasure& layer : measured) weights.push_back(1.0 - layer.at(0));
  return weights;
}

}  // namespace winnow
