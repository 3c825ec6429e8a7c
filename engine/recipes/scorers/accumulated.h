// Accumulated attention of all rows: column sums (H2O), and their mean with the deviation (RoCo).
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

// Column sums. With `per_row` divided by the number of rows that can see the token, which takes away the head start of early tokens.
class AccumulatedScorer : public Scorer {
 public:
  explicit AccumulatedScorer(GroupReduce reduce = GroupReduce::kMean, bool per_row = false) : reduce_(reduce), per_row_(per_row) {}
  std::string name() const override { return per_row_ ? "mean-attention" : "accumulated"; }
  StatisticsNeeds needs() const override {
    StatisticsNeed need{.rows = RowRule::all(), .column_sums = true, .reduce = reduce_};
    return {{need}, {}, {}};
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override {
    HeadScores scores = statistics.at(RowRule::all(), reduce_).column_sums;
    if (!per_row_) return scores;
    for (std::int64_t head = 0; head < scores.heads; ++head) {
      const std::span<float> row = scores.row(head);
      for (std::int64_t j = 0; j < segment.tokens; ++j) row[static_cast<std::size_t>(j)] /= static_cast<float>(segment.rows_that_saw(j));
    }
    return scores;
  }
  bool follows_decode() const override { return !per_row_; }
  bool sums_attention() const override { return true; }

 private:
  GroupReduce reduce_;
  bool per_row_;
};

// Mean attention over the rows that see a token; tokens whose attention fluctuates most are protected (RoCo, Ren and Zhu, arXiv 2402.06262,
// section 3.3): mean_j = c_j / (n - j), deviation_j = sqrt(c2_j / (n - j) - mean_j^2), of the group's mean probabilities.
class MeanDeviationScorer : public Scorer {
 public:
  std::string name() const override { return "mean-deviation"; }
  StatisticsNeeds needs() const override {
    StatisticsNeed need{.rows = RowRule::all(), .column_sums = true, .column_squares = true};
    return {{need}, {}, {}};
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override {
    HeadScores means = statistics.at(RowRule::all()).column_sums;
    for (std::int64_t head = 0; head < means.heads; ++head) {
      const std::span<float> row = means.row(head);
      for (std::int64_t j = 0; j < segment.tokens; ++j) row[static_cast<std::size_t>(j)] /= static_cast<float>(segment.rows_that_saw(j));
    }
    return means;
  }
  HeadScores protection_score(const LayerStatistics& statistics, const SegmentInfo& segment) const override {
    const HeadScores means = score(statistics, segment);
    HeadScores deviations = statistics.at(RowRule::all()).column_squares;
    for (std::int64_t head = 0; head < deviations.heads; ++head) {
      const std::span<float> row = deviations.row(head);
      for (std::int64_t j = 0; j < segment.tokens; ++j) {
        const auto at = static_cast<std::size_t>(j);
        const double mean = means.row(head)[at];
        row[at] = static_cast<float>(std::sqrt(std::max(0.0, row[at] / static_cast<double>(segment.rows_that_saw(j)) - mean * mean)));
      }
    }
    return deviations;
  }
  bool follows_decode() const override { return true; }
};

}  // namespace winnow
