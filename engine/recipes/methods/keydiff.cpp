// KeyDiff. Park et al., "KeyDiff: Key Similarity-Based KV Cache Eviction for Long-Context LLM Inference in Resource-Constrained
// Environments", NeurIPS 2025, arXiv 2504.15364; code NVIDIA/kvpress keydiff_press.py.
//
// Keys (after rotary) that are least like the mean direction of the context's keys stay; no query is looked at. Every head keeps the same
// number (option compete: heads of a layer, or of all layers, compete; cosines are then compared between heads). Option event=clips: after
// every clip of the media, as the paper's block-wise prefill. Deviations: only the media compete, before the question; the mean is over
// their keys, and no first or recent slots are kept for themselves.
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/context_scorer.h"

namespace winnow {

namespace {

Composition keydiff(OptionReader& options) {
  Composition composition = before_the_question();
  composition.scorer = std::make_unique<KeyDifferenceScorer>();
  once_or_in_clips(options, composition);
  let_heads_compete(options, composition, CompetingHeads::kNobody, 0.0);
  return composition;
}

}  // namespace

const Method kKeydiff{.name = "keydiff", .title = "KeyDiff", .source = "Park et al., NeurIPS 2025, arXiv 2504.15364", .compose = keydiff};

}  // namespace winnow
