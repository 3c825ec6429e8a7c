// Random eviction: the control. Any method that does not beat it says nothing; report the mean over at least three seeds.
//
// kept = the last token + the highest hashes of (seed, layer, kv head, original token index). No paper.
#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/scorers/random_score.h"

namespace winnow {

namespace {

Composition random_eviction(OptionReader& options) {
  Composition composition;
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<RandomScorer>(options.seed(), options.flag("same_all_layers", false));
  return composition;
}

}  // namespace

const Method kRandom{.name = "random", .title = "Random", .source = "control", .compose = random_eviction};

}  // namespace winnow
