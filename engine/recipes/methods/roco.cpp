// RoCo. Ren and Zhu, "On the Efficacy of Eviction Policy for Key-Value Constrained Generative Language Model Inference", arXiv 2402.06262,
// section 3.3; code DRSY/EasyKV (easykv/easykv.py).
//
// Score: mean attention over the rows that see a token. Protected: 4 sinks and the last 10 tokens, completed by the tokens whose attention
// fluctuates most to 30 % of the budget beside the sinks. While decoding sums, squares and counts follow every row, and the least mean
// among the steadiest slots leaves. Deviation: one event after the prefill where the original walks the prompt in strides.
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/scorers/accumulated.h"

namespace winnow {

namespace {

Composition roco(OptionReader& options) {
  return {.allocator = std::make_unique<UniformAllocator>(),
          .scorer = std::make_unique<MeanDeviationScorer>(),
          .protection = {.sinks = options.whole("sinks", 4, 0, 1024),
                         .window = options.whole("guarded", 10, 0, 1024),
                         .completed_share = options.real("recent_share", 0.3, 0.0, 1.0)},
          .phase = MethodPhase::kDecode,
          .decode = {.victim = DecodeRule::Victim::kLeastMean, .accumulates = true}};
}

}  // namespace

const Method kRoco{.name = "roco", .title = "RoCo", .source = "Ren and Zhu, arXiv 2402.06262", .compose = roco};

}  // namespace winnow
