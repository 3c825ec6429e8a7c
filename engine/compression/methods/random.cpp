#include "engine/compression/methods/random.h"

#include "engine/compression/allocators/uniform.h"
#include "engine/compression/scorers/random_score.h"

namespace winnow {

Composition compose_random(const RandomOptions& options) {
  Composition composition;
  composition.method = "random";
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<RandomScorer>(options.seed, options.same_all_layers);
  return composition;
}

MethodInfo random_info() {
  MethodInfo info;
  info.name = "random";
  info.title = "Random";
  info.source = "control";
  info.phase = "once";
  info.options = {"seed", "same_all_layers=false"};
  return info;
}

}  // namespace winnow
