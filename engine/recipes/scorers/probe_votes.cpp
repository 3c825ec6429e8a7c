#include "engine/recipes/scorers/probe_votes.h"

#include "engine/base/error.h"

namespace winnow {

StatisticsNeeds ProbeVotesScorer::needs() const {
  StatisticsNeeds needs;
  needs.probe = probe_;
  return needs;
}

HeadScores ProbeVotesScorer::score(const LayerStatistics& statistics, const SegmentInfo&) const {
  require(statistics.probe.has_value(), "ProbeVotesScorer: there was no probe");
  return *statistics.probe;
}

}  // namespace winnow
