#include "engine/compression/statistics/layer_statistics.h"

#include <algorithm>

#include "engine/base/error.h"

namespace winnow {

const RowStatistics& LayerStatistics::at(const RowRule& rows, GroupReduce reduce) const {
  const auto found =
      std::find_if(by_rows.begin(), by_rows.end(), [&](const RowStatistics& each) { return each.rows == rows && each.reduce == reduce; });
  require(found != by_rows.end(), "LayerStatistics: a part reads a statistic that it did not declare");
  return *found;
}

std::vector<StatisticsNeed> merge_needs(std::span<const StatisticsNeed> needs) {
  std::vector<StatisticsNeed> merged;
  for (const StatisticsNeed& need : needs) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const StatisticsNeed& each) {
      return each.rows == need.rows && each.reduce == need.reduce;
    });
    if (same == merged.end()) {
      merged.push_back(need);
      continue;
    }
    same->column_sums = same->column_sums || need.column_sums;
    require(!need.sparsity_p || !same->sparsity_p || *need.sparsity_p == *same->sparsity_p, "two sparsity thresholds over the same rows");
    if (need.sparsity_p) same->sparsity_p = need.sparsity_p;
  }
  return merged;
}

}  // namespace winnow
