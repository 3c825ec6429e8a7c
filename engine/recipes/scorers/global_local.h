// Global-local score: the larger of a token's attention from the last rows and its attention from all rows, brought to the same total
// (EMS).
//
// global_local() is the plain score, by which shared slots are weighed and, while decoding, ranked; the scorer pools it along the segment.
// Attention of the last rows alone misses what only early rows need, that of all rows favours early tokens. EMS, arXiv 2412.08521, eq. 2.
#pragma once

#include <span>

#include "engine/recipes/pooling.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

// max(global * sum(local) / sum(global), local) per token; the ratio counts as 0 where nothing global is left.
std::vector<float> global_local(std::span<const float> global, std::span<const float> local);

class GlobalLocalScorer : public Scorer {
 public:
  // kernel: odd; 1 pools nothing.
  GlobalLocalScorer(std::int64_t local_rows, std::int64_t kernel) : local_rows_(local_rows), kernel_(kernel) {}
  std::string name() const override { return "global-local"; }
  std::optional<Refusal> fits(const Composition& parts) const override;
  StatisticsNeeds needs() const override;
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  bool follows_decode() const override { return true; }

 private:
  std::int64_t local_rows_;
  std::int64_t kernel_;
};

}  // namespace winnow
