// Elastic Cache. Liu et al., "Efficient Inference of Vision Instruction-Following Models with Elastic Cache", ECCV 2024, arXiv 2407.18121:
// importance-driven merging (section 3.2), fixed-point elimination while decoding (section 3.3); code liuzuyan/ElasticCache
// (kv_cache.py).
//
// Score: column sums of all rows, mean over all heads; one set per layer with the first token(s) and the last. The other kept slots are
// anchors: every dropped slot is averaged into the anchor nearest by token index (merge=off: dropped). While decoding, whenever the layer
// holds a whole slot more than its share of all tokens seen, the slot 25 before the end of the prompt's cache leaves.
// Deviations: ranks and offsets as meant (the code takes ranks from a permutation instead of its inverse and forgets the offset of the
// first tokens).
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/reducers/nearest_index.h"
#include "engine/recipes/scorers/accumulated.h"

namespace winnow {

namespace {

Composition elastic_cache(OptionReader& options) {
  Composition composition;
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

}  // namespace

const Method kElasticCache{
    .name = "elastic-cache", .title = "Elastic Cache", .source = "Liu et al., ECCV 2024, arXiv 2407.18121", .compose = elastic_cache};

}  // namespace winnow
