// Accumulated attention, with the largest column sum added to every text column: images compete, text stays (LOOK-M, arXiv 2406.18139,
// section 3.2; MEDA).
#pragma once

#include <algorithm>

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class TextPriorScorer : public Scorer {
 public:
  std::string name() const override { return "text-prior"; }
  StatisticsNeeds needs() const override {
    StatisticsNeed need{.rows = RowRule::all(), .column_sums = true};
    return {{need}, {}, {}};
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override {
    HeadScores scores = statistics.at(RowRule::all()).column_sums;
    for (std::int64_t head = 0; head < scores.heads; ++head) {
      const std::span<float> row = scores.row(head);
      const float largest = *std::max_element(row.begin(), row.end());
      for (std::size_t j = 0; j < row.size(); ++j) {
        if (!is_attached(segment.modality[j])) row[j] += largest;
      }
    }
    return scores;
  }
  bool sums_attention() const override { return true; }
};

}  // namespace winnow
