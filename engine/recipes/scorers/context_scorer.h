// A score of what lies in the cache before a question is read: for events between the media and the question (phases context and stream).
#pragma once

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class ContextScorer : public Scorer {
 public:
  std::optional<Refusal> fits(const Composition& parts) const override;
};

}  // namespace winnow
