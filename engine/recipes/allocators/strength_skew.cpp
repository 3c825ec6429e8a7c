#include "engine/recipes/allocators/strength_skew.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace winnow {

namespace {

// Scaled to mean 1; all 1 if nothing is positive.
std::vector<double> mean_one(std::vector<double> values) {
  for (double& value : values) value = std::isfinite(value) ? std::max(value, 0.0) : 0.0;
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values) value = sum > 0.0 ? value * static_cast<double>(values.size()) / sum : 1.0;
  return values;
}

std::vector<double> to_unit_range(std::vector<double> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double least = *low;
  const double range = *high - least;
  for (double& value : values) value = range > 0.0 ? (value - least) / range : 1.0;
  return values;
}

}  // namespace

StatisticsNeeds StrengthSkewAllocator::needs() const { return {{}, {}, elite_}; }

LayerMeasure StrengthSkewAllocator::measure(const LayerStatistics& statistics, const SegmentInfo&) const {
  return {statistics.elite->strength, statistics.elite->skew};
}

std::vector<double> StrengthSkewAllocator::weights(std::span<const LayerMeasure> measured) const {
  std::vector<double> strengths, skews;
  for (const LayerMeasure& layer : measured) {
    strengths.push_back(layer.at(0));
    skews.push_back(layer.at(1));
  }
  const std::vector<double> strength = mean_one(strengths);
  const std::vector<double> skew = mean_one(skew_norm_ == SkewNorm::kMinMax ? to_unit_range(skews) : skews);
  std::vector<double> weights;
  for (std::size_t layer = 0; layer < measured.size(); ++layer) {
    switch (use_) {
      case Use::kStrength: weights.push_back(strength[layer]); break;
      case Use::kSkew: weights.push_back(skew[layer]); break;
      case Use::kBoth: weights.push_back(0.5 * (strength[layer] + skew[layer])); break;
    }
  }
  return weights;
}

}  // namespace winnow
