#include "engine/recipes/methods/d2o.h"

#include "engine/recipes/allocators/inverse_variance.h"
#include "engine/recipes/reducers/gated.h"
#include "engine/recipes/scorers/accumulated.h"

namespace winnow {

Composition d2o(OptionReader& options) {
  using Norm = InverseVarianceAllocator::Norm;
  using ThresholdScope = GatedReducer::ThresholdScope;
  using Weights = GatedReducer::Weights;
  Composition composition;
  composition.method = "d2o";
  composition.allocator = std::make_unique<InverseVarianceAllocator>(
      options.choice<Norm>("var_norm", {{"head_minmax", Norm::kHeadMinMax}, {"raw", Norm::kRaw}, {"layer_minmax", Norm::kLayerMinMax}}));
  composition.scorer = std::make_unique<AccumulatedScorer>();
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

MethodInfo d2o_info() {
  MethodInfo info;
  info.name = "d2o";
  info.title = "D2O";
  info.source = "Wan et al., ICLR 2025, arXiv 2406.13035";
  info.merges = true;
  info.needs = {"column sums of all rows", "variance of column sums", "decode rows"};
  return info;
}

}  // namespace winnow
