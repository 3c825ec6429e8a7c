// D2O. Wan et al., "D2O: Dynamic Discriminative Operations for Efficient Long-Context Inference of Large Language Models", ICLR 2025,
// arXiv 2406.13035: layer budgets from the variance of column sums (equations 4-5), eviction with sinks and a recent window, merging gated
// by a moving similarity threshold (equations 9-12); code AIoT-MLSys-Lab/D2O (modeling_llama3_7b_13b_d2o.py).
//
// Budgets: softmax over layers of -F (allocators/inverse_variance.h). Score: column sums of all rows; 4 sinks and the last quarter of the
// budget are protected. Evicted pairs merge into the kept pair with the most similar key if that similarity reaches the threshold, with
// weights e^cosine against e for the pair itself. While decoding, the least attended slot leaves and may merge likewise.
// Options against the released code: var_norm=raw is the paper's variance (a sink then takes everything), merge=weighted its code's
// weights, tau_scope=layer one threshold per layer (each head's slots are still compared by their own cosine), skip_layers its layers 0, 1
// and last that are never compressed. Deviations: the total is exact (faithful_clip: clipped to [0.01, 1]); the event comes before the
// first decode step; beta = 0.7 weighs the current similarity.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition d2o(OptionReader& options);
MethodInfo d2o_info();

}  // namespace winnow
