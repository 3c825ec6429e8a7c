#include "engine/recipes/methods/roco.h"

#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/scorers/mean_deviation.h"

namespace winnow {

Composition roco(OptionReader& options) {
  Composition composition;
  composition.method = "roco";
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<MeanDeviationScorer>();
  composition.protection.sinks = options.whole("sinks", 4, 0, 1024);
  composition.protection.window = options.whole("guarded", 10, 0, 1024);
  composition.protection.completed_share = options.real("recent_share", 0.3, 0.0, 1.0);
  composition.phase = MethodPhase::kDecode;
  composition.decode.victim = DecodeRule::Victim::kLeastMean;
  composition.decode.accumulates = true;
  return composition;
}

MethodInfo roco_info() {
  MethodInfo info;
  info.name = "roco";
  info.title = "RoCo";
  info.source = "Ren and Zhu, arXiv 2402.06262";
  info.needs = {"column sums and squares of all rows", "decode rows"};
  return info;
}

}  // namespace winnow
