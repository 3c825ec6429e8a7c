#include "engine/recipes/methods/fastv.h"

namespace winnow {

Composition fastv(OptionReader& options) {
  Pruning pruning;
  pruning.judge = options.choice<Pruning::Judge>("phi", {{"last-row", Pruning::Judge::kLastRow}, {"received", Pruning::Judge::kReceived}});
  pruning.layer = options.whole("layer", 2, 1, 1024);
  Composition composition;
  composition.method = "fastv";
  composition.pruning = pruning;
  composition.scope = Scope::kVisual;
  composition.granularity = Granularity::kLayer;
  composition.phase = MethodPhase::kPrefill;
  return composition;
}

MethodInfo fastv_info() {
  MethodInfo info;
  info.name = "fastv";
  info.title = "FastV";
  info.source = "Chen et al., ECCV 2024, arXiv 2403.06764";
  info.query_aware = true;
  info.needs = {"last row of one layer"};
  return info;
}

}  // namespace winnow
