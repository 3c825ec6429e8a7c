// D2O. Wan et al., "D2O: Dynamic Discriminative Operations for Efficient Long-Context Inference of Large Language Models", ICLR 2025,
// arXiv 2406.13035: layer budgets from the variance of column sums (equations 4-5), eviction with sinks and a recent window, merging gated
// by a moving similarity threshold (equations 9-12); code AIoT-MLSys-Lab/D2O (modeling_llama3_7b_13b_d2o.py).
//
// Budgets: softmax over layers of -F (allocators/inverse_variance.h). Score: column sums of all rows; 4 sinks and the last quarter of the
// budget are protected. Evicted pairs merge into the kept pair with the most similar key if that similarity reaches the threshold, with
// weights e^cosine against e for the pair itself. While decoding, the least attended slot leaves and may merge likewise.
// Options against the released code: var_norm=raw is the paper's variance (a sink then takes everything), merge=weighted its code's
// weights, tau_scope=layer one threshold per layer (each head's slots are still compared by their own cosine), skip_layers its layers 0, 1
// and last that are never compressed. Deviations: the total is exact (faithful_clip: clipped to [0.01, 1]); the event comes before the
// first decode step; beta = 0.7 weighs the current similarity.
#include "engine/recipes/allocators/inverse_variance.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/reducers/gated.h"
#include "engine/recipes/scorers/accumulated.h"

namespace winnow {

namespace {

Composition d2o(OptionReader& options) {
  using Norm = InverseVarianceAllocator::Norm;
  using ThresholdScope = GatedReducer::ThresholdScope;
  using Weights = GatedReducer::Weights;
  Composition composition{.allocator = std::make_unique<InverseVarianceAllocator>(options.choice<Norm>(
                              "var_norm", {{"head_minmax", Norm::kHeadMinMax}, {"raw", Norm::kRaw}, {"layer_minmax", Norm::kLayerMinMax}})),
                          .scorer = std::make_unique<AccumulatedScorer>()};
  const double decay = options.real("beta", 0.7, 0.0, 1.0);
  const auto scope = options.choice<ThresholdScope>("tau_scope", {{"head", ThresholdScope::kHead}, {"layer", ThresholdScope::kLayer}});
  const auto weights = options.choice<Weights>("merge", {{"exponential", Weights::kExponential}, {"weighted", Weights::kCosine}});
  composition.reducer = std::make_shared<GatedReducer>(decay, scope, weights);
  composition.protection.sinks = options.whole("sinks", 4, 0, 1024);
  composition.protection.recent_share = options.real("recent_share", 0.25, 0.0, 1.0);
  composition.skip_outer_layers = options.flag("skip_layers", false);
  composition.min_fraction = 0.01;
  composition.faithful_clip = options.flag("faithful_clip", false);
  composition.event_at_first_decode = options.flag("event_at_first_decode", false);
  composition.phase = MethodPhase::kDecode;
  composition.decode.victim = DecodeRule::Victim::kLeastAttention;
  composition.decode.accumulates = true;
  return composition;
}

}  // namespace

const Method kD2o{.name = "d2o", .title = "D2O", .source = "Wan et al., ICLR 2025, arXiv 2406.13035", .compose = d2o};

}  // namespace winnow
