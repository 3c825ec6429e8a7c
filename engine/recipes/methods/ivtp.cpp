#include "engine/recipes/methods/ivtp.h"

namespace winnow {

Composition ivtp(OptionReader& options) {
  Pruning pruning;
  pruning.judge = Pruning::Judge::kRollout;
  pruning.layer = options.whole("layer", 2, 1, 1024);
  Composition composition;
  composition.method = "ivtp";
  composition.pruning = pruning;
  composition.scope = Scope::kVisual;
  composition.granularity = Granularity::kLayer;
  composition.phase = MethodPhase::kPrefill;
  return composition;
}

MethodInfo ivtp_info() {
  MethodInfo info;
  info.name = "ivtp";
  info.title = "IVTP (approximation)";
  info.source = "Huang et al., ECCV 2024; approximated by attention rollout";
  info.query_aware = true;
  info.needs = {"attention rollout of the vision encoder", "attention rollout of the first layers"};
  return info;
}

}  // namespace winnow
