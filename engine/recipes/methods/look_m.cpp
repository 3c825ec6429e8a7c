// LOOK-M. Wan et al., "LOOK-M: Look-Once Optimization in KV Cache for Efficient Multimodal Long-Context Inference", Findings of EMNLP 2024,
// arXiv 2406.18139: text prior (section 3.2), averaged, pivotal and weighted merging (section 3.3); code SUSTechBruce/LOOK-M
// (modify_llama.py).
//
// Score: column sums of all rows, text columns + the largest sum; half of the budget are recent tokens. Evicted pairs are merged into the
// kept pair with the most similar key: look-m pivotal, look-m-average, look-m-weighted. Options against the released code: text_policy=hard
// (all text stays, whatever the budget), merge_gate=mean (weighted: only pairs at least as similar as the mean take part). Deviations:
// cosines and gate per kv head, not averaged over heads; the code's mixing of filtered targets with unfiltered sources and its fixed 576
// tokens an image are not reproduced.
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/reducers/joining.h"
#include "engine/recipes/scorers/text_prior.h"

namespace winnow {

namespace {

Composition merging(std::shared_ptr<const Reducer> reducer, OptionReader& options) {
  return {.allocator = std::make_unique<UniformAllocator>(),
          .scorer = std::make_unique<TextPriorScorer>(),
          .reducer = std::move(reducer),
          .protection = {.recent_share = options.real("recent_share", 0.5, 0.0, 1.0),
                         .all_text = options.choice<bool>("text_policy", {{"boost", false}, {"hard", true}})}};
}

Composition look_m(OptionReader& options) { return merging(std::make_shared<PivotReducer>(), options); }
Composition look_m_average(OptionReader& options) { return merging(std::make_shared<AverageReducer>(), options); }

Composition look_m_weighted(OptionReader& options) {
  Composition composition = merging(nullptr, options);
  composition.reducer = std::make_shared<WeightedReducer>(options.choice<bool>("merge_gate", {{"none", false}, {"mean", true}}));
  return composition;
}

}  // namespace

const Method kLookM{
    .name = "look-m", .title = "LOOK-M (pivotal)", .source = "Wan et al., Findings of EMNLP 2024, arXiv 2406.18139", .compose = look_m};
const Method kLookMAverage{.name = "look-m-average",
                           .title = "LOOK-M (averaged)",
                           .source = "Wan et al., Findings of EMNLP 2024, arXiv 2406.18139",
                           .compose = look_m_average};
const Method kLookMWeighted{.name = "look-m-weighted",
                            .title = "LOOK-M (weighted)",
                            .source = "Wan et al., Findings of EMNLP 2024, arXiv 2406.18139",
                            .compose = look_m_weighted};

}  // namespace winnow
