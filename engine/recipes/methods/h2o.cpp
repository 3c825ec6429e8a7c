#include "engine/recipes/methods/h2o.h"

#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/accumulated.h"

namespace winnow {

Composition h2o(OptionReader& options) {
  const bool per_row = options.choice<bool>("score", {{"sum", false}, {"mean", true}});
  Composition composition;
  composition.method = "h2o";
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<AccumulatedScorer>(group_reduce(options), per_row);
  composition.protection.recent_share = options.real("recent_share", 0.5, 0.0, 1.0);
  composition.phase = options.choice<MethodPhase>("phase", {{"decode", MethodPhase::kDecode}, {"once", MethodPhase::kOnce}});
  if (per_row) composition.phase = MethodPhase::kOnce;
  composition.decode.victim = DecodeRule::Victim::kLeastAttention;
  composition.decode.accumulates = composition.phase == MethodPhase::kDecode;
  return composition;
}

MethodInfo h2o_info() {
  MethodInfo info;
  info.name = "h2o";
  info.title = "H2O";
  info.source = "Zhang et al., NeurIPS 2023, arXiv 2306.14048";
  info.needs = {"column sums of all rows", "decode rows"};
  return info;
}

}  // namespace winnow
