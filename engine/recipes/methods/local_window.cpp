// LocalWindow: the last b tokens and nothing else; the window baseline of Xiao et al., arXiv 2309.17453, figure 1 (b).
//
// While decoding the oldest slot leaves when m > b. Deviation: none; keys keep their original rotary positions.
#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/scorers/recency.h"

namespace winnow {

namespace {

Composition local_window(OptionReader&) {
  Composition composition;
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<RecencyScorer>();
  composition.granularity = Granularity::kLayer;
  composition.phase = MethodPhase::kDecode;
  return composition;
}

}  // namespace

const Method kLocalWindow{
    .name = "local-window", .title = "Local window", .source = "baseline of Xiao et al., arXiv 2309.17453", .compose = local_window};

}  // namespace winnow
