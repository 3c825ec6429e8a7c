// A score of what lies in the cache before a question is read: for events between the media and the question (phases context and stream).
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class ContextScorer : public Scorer {
 public:
  std::optional<Refusal> fits(const Composition& parts) const override {
    const PhaseFacts& facts = phase_facts(parts.phase);
    if (facts.before_question && !facts.fetches && (!facts.in_clips || judges_streams())) return std::nullopt;
    return Refusal{"scorer", name() + " judges the media before a question is read; start from a preset that does (kvzip, self-study)"};
  }
};

}  // namespace winnow
