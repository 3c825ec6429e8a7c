#include "engine/recipes/methods/keydiff.h"

#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/key_difference.h"

namespace winnow {

Composition keydiff(OptionReader& options) {
  Composition composition = before_the_question("keydiff");
  composition.scorer = std::make_unique<KeyDifferenceScorer>();
  once_or_in_clips(options, composition);
  let_heads_compete(options, composition, CompetingHeads::kNobody, 0.0);
  return composition;
}

MethodInfo keydiff_info() {
  MethodInfo info;
  info.name = "keydiff";
  info.title = "KeyDiff";
  info.source = "Park et al., NeurIPS 2025, arXiv 2504.15364";
  info.needs = {"directions of the media's keys"};
  return info;
}

}  // namespace winnow
