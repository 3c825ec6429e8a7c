#include "engine/recipes/budget.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/error.h"

namespace winnow {

namespace {

// Usable weights: finite, nonnegative, not all zero.
std::vector<double> cleaned(std::span<const double> weights) {
  std::vector<double> clean(weights.begin(), weights.end());
  for (double& weight : clean) {
    if (!std::isfinite(weight) || weight < 0.0) weight = 0.0;
  }
  const double largest = *std::max_element(clean.begin(), clean.end());
  if (largest <= 0.0) return std::vector<double>(clean.size(), 1.0);
  for (double& weight : clean) weight /= largest;  // only proportions matter; keeps sums of huge weights finite
  return clean;
}

}  // namespace

std::int64_t round_half_up(double x) { return static_cast<std::int64_t>(std::floor(x + 0.5)); }

std::int64_t share_of(double share, std::int64_t budget) {
  return std::clamp<std::int64_t>(round_half_up(share * static_cast<double>(budget)), std::min<std::int64_t>(1, budget), budget);
}

std::int64_t total_budget(const BudgetRequest& request, std::int64_t layers, std::int64_t scope_tokens) {
  if (request.tokens) return layers * std::min(*request.tokens, scope_tokens);
  const std::int64_t all = layers * scope_tokens;
  return std::clamp<std::int64_t>(round_half_up(request.retention * static_cast<double>(all)), 0, all);
}

std::int64_t lower_bound_slots(const BudgetRequest& request, std::int64_t scope_tokens, std::int64_t protected_slots, double min_fraction) {
  if (scope_tokens == 0) return 0;
  const double n = static_cast<double>(scope_tokens);
  const double retention = request.tokens ? std::min(1.0, static_cast<double>(*request.tokens) / n) : request.retention;
  const auto by_fraction = static_cast<std::int64_t>(std::ceil(std::min(min_fraction, retention) * n));
  return std::min(scope_tokens, std::max({std::int64_t{1}, protected_slots, by_fraction}));
}

std::vector<std::int64_t> round_to_total(std::span<const double> shares, std::int64_t total, std::span<const std::int64_t> high) {
  std::vector<std::int64_t> budgets(shares.size());
  std::vector<double> remainder(shares.size());
  std::int64_t left = total;
  for (std::size_t layer = 0; layer < shares.size(); ++layer) {
    budgets[layer] = static_cast<std::int64_t>(std::floor(shares[layer] + 1e-9));
    // Nine decimals: equal shares must tie whatever their last bits say.
    remainder[layer] = std::round((shares[layer] - static_cast<double>(budgets[layer])) * 1e9) * 1e-9;
    left -= budgets[layer];
  }
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return remainder[a] > remainder[b]; });
  for (bool given = true; left > 0 && given;) {
    given = false;
    for (const std::size_t layer : order) {
      if (left == 0) break;
      if (budgets[layer] >= high[layer]) continue;
      ++budgets[layer];
      --left;
      given = true;
    }
  }
  return budgets;
}

std::vector<std::int64_t> allocate(std::span<const double> weights, std::int64_t total, std::span<const std::int64_t> low,
                                   std::span<const std::int64_t> high) {
  const std::size_t layers = weights.size();
  require(layers > 0 && low.size() == layers && high.size() == layers, "allocate: bounds for every layer");
  for (std::size_t layer = 0; layer < layers; ++layer) require(low[layer] >= 0 && low[layer] <= high[layer], "allocate: crossed bounds");
  if (std::accumulate(high.begin(), high.end(), std::int64_t{0}) <= total) return {high.begin(), high.end()};
  if (std::accumulate(low.begin(), low.end(), std::int64_t{0}) >= total) return {low.begin(), low.end()};

  std::vector<double> w = cleaned(weights);
  const double mean = std::accumulate(w.begin(), w.end(), 0.0) / static_cast<double>(layers);
  for (double& weight : w) weight = std::max(weight, 1e-9 * mean);

  const auto share = [&](double lambda, std::size_t layer) {
    return std::clamp(lambda * w[layer], static_cast<double>(low[layer]), static_cast<double>(high[layer]));
  };
  // Monotone in lambda: at 0 the sum is that of low, at the upper end that of high.
  double below = 0.0;
  double above = static_cast<double>(*std::max_element(high.begin(), high.end())) / *std::min_element(w.begin(), w.end());
  for (int step = 0; step < 200; ++step) {
    const double middle = 0.5 * (below + above);
    double sum = 0.0;
    for (std::size_t layer = 0; layer < layers; ++layer) sum += share(middle, layer);
    (sum < static_cast<double>(total) ? below : above) = middle;
  }
  std::vector<double> shares;
  for (std::size_t layer = 0; layer < layers; ++layer) shares.push_back(share(above, layer));
  return round_to_total(shares, total, high);
}

std::vector<std::int64_t> allocate_without_redistribution(std::span<const double> weights, std::int64_t total, std::int64_t scope_tokens) {
  require(!weights.empty() && scope_tokens > 0, "allocate: no layers or no tokens");
  const std::vector<double> w = cleaned(weights);
  const double sum = std::accumulate(w.begin(), w.end(), 0.0);
  const double n = static_cast<double>(scope_tokens);
  std::vector<std::int64_t> budgets;
  for (const double weight : w) {
    const double beta = std::clamp(weight / sum * static_cast<double>(total) / n, 0.01, 1.0);
    budgets.push_back(std::clamp(round_half_up(beta * n), static_cast<std::int64_t>(std::ceil(0.01 * n)), scope_tokens));
  }
  return budgets;
}

}  // namespace winnow
