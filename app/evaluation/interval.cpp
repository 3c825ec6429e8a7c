#include "app/evaluation/interval.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "app/evaluation/random_numbers.h"

namespace winnow::app {
namespace {

constexpr double kZ = 1.959963984540054;  // two-sided 95 %
constexpr int kResamples = 2000;

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
  std::sort(means.begin(), means.end());
  const auto at = [&](double share) { return means[static_cast<std::size_t>(share * (kResamples - 1) + 0.5)]; };
  return {at(0.025), at(0.975)};
}

Interval meanInterval(std::span<const double> scores) {
  const bool binary = std::all_of(scores.begin(), scores.end(), [](double score) { return score == 0.0 || score == 1.0; });
  if (binary) return wilsonInterval(static_cast<int>(std::count(scores.begin(), scores.end(), 1.0)), static_cast<int>(scores.size()));
  return bootstrapInterval(scores);
}

}  // namespace winnow::app
