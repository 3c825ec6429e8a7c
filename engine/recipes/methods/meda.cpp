#include "engine/recipes/methods/meda.h"

#include "engine/recipes/allocators/cross_modal.h"
#include "engine/recipes/reducers/average.h"
#include "engine/recipes/reducers/pivot.h"
#include "engine/recipes/scorers/text_prior.h"

namespace winnow {

Composition meda(OptionReader& options) {
  using Entropy = CrossModalAllocator::Entropy;
  enum class Kind : int { kHeadMean = 1, kMeanHead = 2, kFull = 3 };
  const Kind kind = options.choice<Kind>(
      "entropy", {{"xmodal_headmean", Kind::kHeadMean}, {"xmodal_meanhead", Kind::kMeanHead}, {"full_attention", Kind::kFull}});
  CrossModalNeed need;
  need.heads = kind == Kind::kMeanHead ? CrossModalNeed::Heads::kEntropyFirst : CrossModalNeed::Heads::kMeanFirst;
  need.causal = options.flag("xmodal_causal", false);
  Composition composition;
  composition.method = "meda";
  composition.allocator = std::make_unique<CrossModalAllocator>(kind == Kind::kFull ? Entropy::kFullAttention : Entropy::kCrossModal, need);
  composition.scorer = std::make_unique<TextPriorScorer>();
  composition.reducer = options.choice<std::shared_ptr<const Reducer>>("merge", {{"average", std::make_shared<AverageReducer>()},
                                                                                 {"pivot", std::make_shared<PivotReducer>()},
                                                                                 {"drop", std::make_shared<DropReducer>()}});
  composition.protection.recent_share = options.real("recent_share", 0.5, 0.0, 1.0);
  composition.protection.all_text = options.choice<bool>("text_policy", {{"boost", false}, {"hard", true}});
  composition.min_fraction = 0.01;
  composition.faithful_clip = options.flag("faithful_clip", false);
  composition.event_at_first_decode = options.flag("event_at_first_decode", false);
  return composition;
}

MethodInfo meda_info() {
  MethodInfo info;
  info.name = "meda";
  info.title = "MEDA";
  info.source = "Wan et al., NAACL 2025, arXiv 2502.17599";
  info.merges = true;
  info.needs = {"column sums of all rows", "cross-modal entropies"};
  return info;
}

}  // namespace winnow
