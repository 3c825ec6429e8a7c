#include "engine/recipes/methods/elastic_cache.h"

#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/reducers/nearest_index.h"
#include "engine/recipes/scorers/accumulated.h"

namespace winnow {

Composition elastic_cache(OptionReader& options) {
  Composition composition;
  composition.method = "elastic-cache";
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<AccumulatedScorer>();
  composition.granularity = Granularity::kLayer;
  composition.protection.sinks = options.whole("first", 1, 0, 1024);
  if (options.choice<bool>("merge", {{"on", true}, {"off", false}}))
    composition.reducer = std::make_shared<NearestIndexReducer>(composition.protection.sinks);
  composition.phase = MethodPhase::kRatioDecode;
  composition.decode.victim = DecodeRule::Victim::kFixedDistance;
  composition.decode.distance = options.whole("distance", -25, -4096, -1);
  return composition;
}

MethodInfo elastic_cache_info() {
  MethodInfo info;
  info.name = "elastic-cache";
  info.title = "Elastic Cache";
  info.source = "Liu et al., ECCV 2024, arXiv 2407.18121";
  info.merges = true;
  info.needs = {"column sums of all rows"};
  return info;
}

}  // namespace winnow
