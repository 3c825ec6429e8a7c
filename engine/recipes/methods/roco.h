// RoCo. Ren and Zhu, "On the Efficacy of Eviction Policy for Key-Value Constrained Generative Language Model Inference", arXiv 2402.06262,
// section 3.3; code DRSY/EasyKV (easykv/easykv.py).
//
// Score: mean attention over the rows that see a token. Protected: 4 sinks and the last 10 tokens, completed by the tokens whose attention
// fluctuates most to 30 % of the budget beside the sinks. While decoding sums, squares and counts follow every row, and the least mean
// among the steadiest slots leaves. Deviation: one event after the prefill where the original walks the prompt in strides.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition roco(OptionReader& options);
MethodInfo roco_info();

}  // namespace winnow
