#include "engine/metrics/budget_divergence.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "engine/base/error.h"

namespace winnow {
namespace {

std::vector<double> shares(std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> result(weights.begin(), weights.end());
  for (double& value : result) value = sum > 0.0 ? value / sum : 1.0 / static_cast<double>(weights.size());
  return result;
}

}  // namespace

double jensen_shannon_divergence(std::span<const double> p, std::span<const double> q) {
  require(p.size() == q.size(), "divergence of distributions of unequal length");
  const std::vector<double> a = shares(p);
  const std::vector<double> b = shares(q);
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double middle = 0.5 * (a[i] + b[i]);
    if (a[i] > 0.0) sum += 0.5 * a[i] * std::log2(a[i] / middle);
    if (b[i] > 0.0) sum += 0.5 * b[i] * std::log2(b[i] / middle);
  }
  return sum > 0.0 ? sum : 0.0;  // rounding may leave -0
}

double divergence_from_uniform(std::span<const double> budgets) {
  return jensen_shannon_divergence(budgets, std::vector<double>(budgets.size(), 1.0));
}

}  // namespace winnow
