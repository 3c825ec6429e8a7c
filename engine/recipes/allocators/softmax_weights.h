// Weights e^x over layers, normalised to sum 1; the largest is subtracted first. Values that are not finite weigh nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace winnow {

inline std::vector<double> softmax_weights(std::span<const double> values) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  std::vector<double> weights;
  double sum = 0.0;
  for (const double value : values) {
    weights.push_back(std::isfinite(value) ? std::exp(value - largest) : 0.0);
    sum += weights.back();
  }
  for (double& weight : weights) weight = sum > 0.0 ? weight / sum : 1.0 / static_cast<double>(weights.size());
  return weights;
}

}  // namespace winnow
