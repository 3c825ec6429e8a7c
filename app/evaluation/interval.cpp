#include "app/evaluation/interval.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "app/evaluation/random_numbers.h"

namespace winnow::app {
namespace {

constexpr double kZ = 1.959963984540054;  // two-sided 95 %
constexpr int kResamples = 2000;

// The middle 95 % of what was drawn.
Interval middleOf(std::vector<double> means) {
  std::sort(means.begin(), means.end());
  const auto at = [&](double share) { return means[static_cast<std::size_t>(share * (kResamples - 1) + 0.5)]; };
  return {at(0.025), at(0.975)};
}

}  // namespace

double mean(std::span<const double> values) {
  return values.empty() ? 0.0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Interval wilsonInterval(int right, int asked) {
  if (asked <= 0) return {};
  const double n = asked;
  const double p = right / n;
  const double center = (p + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double reach = kZ / (1 + kZ * kZ / n) * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  return {right == 0 ? 0.0 : center - reach, right == asked ? 1.0 : center + reach};
}

Interval bootstrapInterval(std::span<const double> scores) {
  if (scores.empty()) return {};
  RandomNumbers random(0);
  std::vector<double> means(kResamples);
  for (double& resampled : means) {
    double sum = 0.0;
    for (std::size_t i = 0; i < scores.size(); ++i) sum += scores[random.below(scores.size())];
    resampled = sum / static_cast<double>(scores.size());
  }
  return middleOf(std::move(means));
}

Interval clusteredInterval(std::span<const std::vector<double>> clusters) {
  struct Sum {
    double scores = 0.0;
    double count = 0.0;
  };
  std::vector<Sum> sums;
  for (const std::vector<double>& cluster : clusters) {
    if (cluster.empty()) continue;
    sums.push_back({std::accumulate(cluster.begin(), cluster.end(), 0.0), static_cast<double>(cluster.size())});
  }
  if (sums.empty()) return {};
  RandomNumbers random(0);
  std::vector<double> means(kResamples);
  for (double& resampled : means) {
    Sum drawn;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const Sum& one = sums[random.below(sums.size())];
      drawn.scores += one.scores;
      drawn.count += one.count;
    }
    resampled = drawn.scores / drawn.count;
  }
  return middleOf(std::move(means));
}

Interval meanInterval(std::span<const double> scores) {
  const bool binary = std::all_of(scores.begin(), scores.end(), [](double score) { return score == 0.0 || score == 1.0; });
  if (binary) return wilsonInterval(static_cast<int>(std::count(scores.begin(), scores.end(), 1.0)), static_cast<int>(scores.size()));
  return bootstrapInterval(scores);
}

}  // namespace winnow::app
