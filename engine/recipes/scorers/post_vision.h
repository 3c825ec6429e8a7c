// Attention of the text after the images: column sums of the post-vision rows over all columns (VL-Cache).
#pragma once

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class PostVisionScorer : public Scorer {
 public:
  explicit PostVisionScorer(RowRule rows) : rows_(rows) {}
  std::string name() const override { return "post-vision"; }
  StatisticsNeeds needs() const override {
    StatisticsNeed need;
    need.rows = rows_;
    need.column_sums = true;
    return {{need}, {}, {}};
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override { return statistics.at(rows_).column_sums; }
  bool sums_attention() const override { return true; }

 private:
  RowRule rows_;
};

}  // namespace winnow
