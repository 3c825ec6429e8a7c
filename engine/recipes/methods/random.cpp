#include "engine/recipes/methods/random.h"

#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/scorers/random_score.h"

namespace winnow {

Composition random_eviction(OptionReader& options) {
  Composition composition;
  composition.method = "random";
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<RandomScorer>(options.seed(), options.flag("same_all_layers", false));
  return composition;
}

MethodInfo random_info() {
  MethodInfo info;
  info.name = "random";
  info.title = "Random";
  info.source = "control";
  return info;
}

}  // namespace winnow
