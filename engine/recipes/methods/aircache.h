// AirCache. Huang et al., "AirCache: Activating Inter-modal Relevancy KV Cache Compression for Efficient Large Vision-Language Model
// Inference", ICCV 2025, arXiv 2503.23956: elite observation window (equations 4-6), strength and skew budgets (7-11). No public code.
//
// Only visual slots are compressed. The instruction tokens that the last token attends to most (at least alpha times the largest) judge
// the visual tokens, every head by its own (the paper leaves out head and layer "to simplify"); layers with strong and concentrated visual
// attention get more (statistics/elite_attention.h, allocators/strength_skew.h). Options: elite_heads=mean (one elite for all heads of a
// layer, from their mean), elite_rule=share (the top 1 - alpha by attention, the other reading that the words allow), the paper's ablations
// (alloc, skew_norm, elite_text, merge_fraction: that share of the dropped tokens, most similar first, is averaged into kept ones) and
// granularity=head.
// Deviations, where the paper's formulas are not readable: mean over heads of the importance, sample standard deviation, causal order among
// elite rows, negative skew counts as 0, both halves normalised to mean 1 over layers; a layer keeps at least one visual token.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition aircache(OptionReader& options);
MethodInfo aircache_info();

}  // namespace winnow
