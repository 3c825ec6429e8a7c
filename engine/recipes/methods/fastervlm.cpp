#include "engine/recipes/methods/fastervlm.h"

namespace winnow {

Composition fastervlm(OptionReader&) {
  Pruning pruning;
  pruning.judge = Pruning::Judge::kVision;
  pruning.layer = 0;
  Composition composition;
  composition.method = "fastervlm";
  composition.pruning = pruning;
  composition.scope = Scope::kVisual;
  composition.granularity = Granularity::kLayer;
  composition.phase = MethodPhase::kPrefill;
  return composition;
}

MethodInfo fastervlm_info() {
  MethodInfo info;
  info.name = "fastervlm";
  info.title = "FasterVLM";
  info.source = "Zhang et al., arXiv 2412.01818";
  info.needs = {"attention of the vision encoder"};
  return info;
}

}  // namespace winnow
