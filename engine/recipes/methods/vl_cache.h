// VL-Cache. Tu et al., "VL-Cache: Sparsity and Modality-Aware KV Cache Compression for Vision-Language Model Inference Acceleration",
// ICLR 2025, arXiv 2410.23317: sparsity with relative threshold p (equation 1), layer budgets (algorithm 1), post-vision attention score
// (equation 4, algorithm 2). No public code.
//
// P = rows after the last visual token. gamma = mean over heads of the share of allowed entries of P below p times their row maximum;
// budgets in proportion to 1 - gamma; score = column sums of P over all columns; the last 10 % of a layer's budget are protected.
// Options: min_stat_rows extends P backwards (template tokens alone are noisy judges), max_stat_rows takes its last rows only (0: all).
// Deviations: shares cut by clipping are given to the other layers, so that the total is exact (faithful_clip: as printed); each kv head
// keeps its own set (the paper does not say); keys are all columns, as its algorithm listing has it, not the last rows only, as its
// formula is printed; without visual tokens, or with none after them, P is the last 32 rows.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition vl_cache(OptionReader& options);
MethodInfo vl_cache_info();

}  // namespace winnow
