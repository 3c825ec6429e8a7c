// 95 % intervals of a mean score. Pure, deterministic; any thread.
//
// Questions are taken as independent draws, but for clusteredInterval(). Several questions about one video are not quite: true intervals
// are somewhat wider.
#pragma once

#include <span>
#include <vector>

namespace winnow::app {

struct Interval {
  double low = 0.0;
  double high = 1.0;
};

// Wilson score interval of `right` out of `asked`.
Interval wilsonInterval(int right, int asked);

// Percentile bootstrap of the mean: 2000 resamples with a fixed seed.
Interval bootstrapInterval(std::span<const double> scores);

// The same of the mean over all scores, whole clusters drawn: questions about one document. Empty clusters count for nothing.
Interval clusteredInterval(std::span<const std::vector<double>> clusters);

// Wilson where every score is 0 or 1, the bootstrap otherwise; [0, 1] without scores.
Interval meanInterval(std::span<const double> scores);

double mean(std::span<const double> values);  // 0 without values

}  // namespace winnow::app
