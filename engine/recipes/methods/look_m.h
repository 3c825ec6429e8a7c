// LOOK-M. Wan et al., "LOOK-M: Look-Once Optimization in KV Cache for Efficient Multimodal Long-Context Inference", Findings of EMNLP 2024,
// arXiv 2406.18139: text prior (section 3.2), averaged, pivotal and weighted merging (section 3.3); code SUSTechBruce/LOOK-M
// (modify_llama.py).
//
// Score: column sums of all rows, text columns + the largest sum; half of the budget are recent tokens. Evicted pairs are merged into the
// kept pair with the most similar key: look-m pivotal, look-m-average, look-m-weighted. Options against the released code: text_policy=hard
// (all text stays, whatever the budget), merge_gate=mean (weighted: only pairs at least as similar as the mean take part). Deviations:
// cosines and gate per kv head, not averaged over heads; the code's mixing of filtered targets with unfiltered sources and its fixed 576
// tokens an image are not reproduced.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition look_m(OptionReader& options);
MethodInfo look_m_info();
Composition look_m_average(OptionReader& options);
MethodInfo look_m_average_info();
Composition look_m_weighted(OptionReader& options);
MethodInfo look_m_weighted_info();

}  // namespace winnow
