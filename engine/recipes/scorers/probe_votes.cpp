#include "engine/recipes/scorers/probe_votes.h"

#include "engine/base/error.h"
#include "engine/recipes/composition.h"

namespace winnow {

std::optional<Refusal> ProbeVotesScorer::fits(const Composition& parts) const {
  if (parts.phase == MethodPhase::kContext) return std::nullopt;
  return Refusal{"scorer", name_ + " judges the media before a question is read; start from a preset that does (kvzip, self-study)"};
}

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
