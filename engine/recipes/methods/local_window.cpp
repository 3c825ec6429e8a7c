#include "engine/recipes/methods/local_window.h"

#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/scorers/recency.h"

namespace winnow {

Composition local_window(OptionReader&) {
  Composition composition;
  composition.method = "local-window";
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<RecencyScorer>();
  composition.granularity = Granularity::kLayer;
  composition.phase = MethodPhase::kDecode;
  return composition;
}

MethodInfo local_window_info() {
  MethodInfo info;
  info.name = "local-window";
  info.title = "Local window";
  info.source = "baseline of Xiao et al., arXiv 2309.17453";
  return info;
}

}  // namespace winnow
