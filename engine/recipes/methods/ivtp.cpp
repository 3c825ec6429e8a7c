// IVTP, approximated. Huang et al., "IVTP: Instruction-guided Visual Token Pruning for Large Vision-Language Models", ECCV 2024. There is
// no public code; results must be labelled an approximation.
//
// Two stages, each keeps the square root of the retention: before the decoder by attention rollout over the vision encoder's last two
// layers, then at the input of layer 2 by rollout over the layers before it, as the text after the images sees them. Rollout: product of
// (attention + identity) / 2, head means, later layers on the left.
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"

namespace winnow {

namespace {

Composition ivtp(OptionReader& options) { return pruned({.judge = Pruning::Judge::kRollout, .layer = options.whole("layer", 2, 1, 1024)}); }

}  // namespace

const Method kIvtp{.name = "ivtp",
                   .title = "IVTP (approximation)",
                   .source = "Huang et al., ECCV 2024; approximated by attention rollout",
                   .compose = ivtp,
                   .query_aware = true};

}  // namespace winnow
