#include "engine/recipes/scorers/frame_likeness.h"

#include "engine/base/error.h"
#include "engine/recipes/composition.h"

namespace winnow {

std::optional<Refusal> FrameLikenessScorer::fits(const Composition& parts) const {
  if (phase_facts(parts.phase).fetches) return std::nullopt;
  return Refusal{"scorer", name() + " compares frames with a question when it comes; start from rekv"};
}

StatisticsNeeds FrameLikenessScorer::needs() const {
  StatisticsNeeds needs;
  needs.probe = QuestionProbe{cosine_};
  return needs;
}

HeadScores FrameLikenessScorer::score(const LayerStatistics& statistics, const SegmentInfo&) const {
  require(statistics.probe.has_value(), "FrameLikenessScorer: there was no question");
  return *statistics.probe;
}

}  // namespace winnow
