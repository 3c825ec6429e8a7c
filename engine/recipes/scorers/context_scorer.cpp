#include "engine/recipes/scorers/context_scorer.h"

#include "engine/recipes/composition.h"

namespace winnow {

std::optional<Refusal> ContextScorer::fits(const Composition& parts) const {
  if (parts.phase == MethodPhase::kContext || (parts.phase == MethodPhase::kStream && judges_streams())) return std::nullopt;
  return Refusal{"scorer", name() + " judges the media before a question is read; start from a preset that does (kvzip, self-study)"};
}

}  // namespace winnow
