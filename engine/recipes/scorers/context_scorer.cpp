#include "engine/recipes/scorers/context_scorer.h"

#include "engine/recipes/composition.h"

namespace winnow {

std::optional<Refusal> ContextScorer::fits(const Composition& parts) const {
  const PhaseFacts& facts = phase_facts(parts.phase);
  if (facts.before_question && !facts.fetches && (!facts.in_clips || judges_streams())) return std::nullopt;
  return Refusal{"scorer", name() + " judges the media before a question is read; start from a preset that does (kvzip, self-study)"};
}

}  // namespace winnow
