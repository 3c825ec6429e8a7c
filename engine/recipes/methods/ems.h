// EMS. Li et al., "EMS: Adaptive Evict-then-Merge Strategy for Head-wise KV Cache Compression Based on Global-Local Importance", arXiv
// 2412.08521: score (equation 2), local sums while decoding (section 3.3), sharing (section 4.2, appendix A). No public code.
//
// Score: the larger of local (last 32 rows) and scaled global attention, pooled over 7 tokens at the event. Per kv head the best tokens
// keep a slot each, the next (gamma - 1) times as many share the slot of a similar one (cosine of keys times cosine of values at least tau)
// or are masked (zero class), the rest is evicted. A slot stores a mean direction and a mean value; a look-up table adds each token's key
// length. While decoding the token that leaves the window becomes a slot and the least slot is merged. ems-no-position compares and stores
// keys before rotation and rotates them at use by rank (option rotation=original: to their own positions).
// Options: zero_mode=literal gives masked tokens key and value 0 in the softmax, as the paper words it; for comparison only.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition ems(OptionReader& options);
MethodInfo ems_info();
Composition ems_no_position(OptionReader& options);
MethodInfo ems_no_position_info();

}  // namespace winnow
