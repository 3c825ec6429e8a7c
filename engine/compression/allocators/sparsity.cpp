#include "engine/compression/allocators/sparsity.h"

namespace winnow {

std::optional<StatisticsNeed> SparsityAllocator::need() const {
  StatisticsNeed need;
  need.rows = rows_;
  need.sparsity_p = p_;
  return need;
}

double SparsityAllocator::measure(const LayerStatistics& statistics) const { return statistics.at(rows_).sparsity; }

std::vector<double> SparsityAllocator::weights(std::span<const double> measured) const {
  std::vector<double> weights;
  for (const double sparsity : measured) weights.push_back(1.0 - sparsity);
  return weights;
}

}  // namespace winnow
