#include "engine/recipes/allocators/inverse_variance.h"

#include <algorithm>
#include <numeric>

#include "engine/recipes/allocators/softmax_weights.h"

namespace winnow {

namespace {

constexpr double kTiny = 1e-6;  // in the denominator, as in the released code

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> min_max(std::vector<double> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double least = *low;
  const double range = *high - least + kTiny;
  for (double& value : values) value = (value - least) / range;
  return values;
}

}  // namespace

StatisticsNeeds InverseVarianceAllocator::needs() const {
  StatisticsNeed need{.rows = RowRule::all(), .head_variance = true};
  return {{need}, {}, {}};
}

LayerMeasure InverseVarianceAllocator::measure(const LayerStatistics& statistics, const SegmentInfo& segment) const {
  std::vector<double> variances = statistics.at(RowRule::all()).head_variance;
  if (norm_ != Norm::kHeadMinMax) return {mean_of(variances)};
  const auto n = static_cast<double>(segment.tokens);
  for (double& variance : variances) variance *= n > 1.0 ? n / (n - 1.0) : 1.0;  // sample variance
  return {mean_of(min_max(std::move(variances)))};
}

std::vector<double> InverseVarianceAllocator::weights(std::span<const LayerMeasure> measured) const {
  std::vector<double> values;
  for (const LayerMeasure& layer : measured) values.push_back(layer.at(0));
  if (norm_ == Norm::kLayerMinMax) values = min_max(std::move(values));
  for (double& value : values) value = -value;
  return softmax_weights(values);
}

}  // namespace winnow
