#include "engine/recipes/methods/self_study.h"

#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/probe_votes.h"

namespace winnow {

Composition self_study(OptionReader& options) {
  Composition composition = before_the_question("self-study");
  composition.scorer = std::make_unique<ProbeVotesScorer>("description", studied(options, "self-study", true, true));
  let_heads_compete(options, composition, CompetingHeads::kOfAllLayers, 0.2);
  return composition;
}

MethodInfo self_study_info() {
  MethodInfo info;
  info.name = "self-study";
  info.title = "Self-study";
  info.source =
      "Winnow; closest precedent CacheNotes, EACL 2026 (before it Beyond RAG, arXiv 2503.04973); after KVzip+ and Attention Matching, "
      "arXiv 2602.16284";
  info.needs = {"attention of the model's own description of the media", "norms of values behind the output projection"};
  return info;
}

}  // namespace winnow
