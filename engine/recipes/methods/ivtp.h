// IVTP, approximated. Huang et al., "IVTP: Instruction-guided Visual Token Pruning for Large Vision-Language Models", ECCV 2024. There is
// no public code; results must be labelled an approximation.
//
// Two stages, each keeps the square root of the retention: before the decoder by attention rollout over the vision encoder's last two
// layers, then at the input of layer 2 by rollout over the layers before it, as the text after the images sees them. Rollout: product of
// (attention + identity) / 2, head means, later layers on the left.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition ivtp(OptionReader& options);
MethodInfo ivtp_info();

}  // namespace winnow
