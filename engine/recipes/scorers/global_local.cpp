#include "engine/recipes/scorers/global_local.h"

#include <algorithm>

#include "engine/recipes/composition.h"

namespace winnow {

std::vector<float> global_local(std::span<const float> global, std::span<const float> local) {
  double all = 0.0;
  double last = 0.0;
  for (std::size_t i = 0; i < global.size(); ++i) {
    all += global[i];
    last += local[i];
  }
  const double ratio = all > 0.0 ? last / all : 0.0;
  std::vector<float> scores(global.size());
  for (std::size_t i = 0; i < global.size(); ++i) scores[i] = std::max(static_cast<float>(global[i] * ratio), local[i]);
  return scores;
}

std::optional<Refusal> GlobalLocalScorer::fits(const Composition& parts) const {
  if (parts.phase != MethodPhase::kDecode || parts.reducer->sharing() != nullptr) return std::nullopt;
  return Refusal{"scorer", "global-local follows each token only where slots are shared (reducer shared-entries)"};
}

StatisticsNeeds GlobalLocalScorer::needs() const {
  StatisticsNeed all;
  all.rows = RowRule::all();
  all.column_sums = true;
  StatisticsNeed local{.rows = RowRule::last(local_rows_), .column_sums = true};
  return {{all, local}, {}, {}};
}

HeadScores GlobalLocalScorer::score(const LayerStatistics& statistics, const SegmentInfo&) const {
  const HeadScores& all = statistics.at(RowRule::all()).column_sums;
  const HeadScores& local = statistics.at(RowRule::last(local_rows_)).column_sums;
  HeadScores scores{all.heads, all.columns, std::vector<float>(all.values.size())};
  for (std::int64_t head = 0; head < scores.heads; ++head)
    pool_scores(global_local(all.row(head), local.row(head)), kernel_, Pooling::kAverage, scores.row(head));
  return scores;
}

}  // namespace winnow
