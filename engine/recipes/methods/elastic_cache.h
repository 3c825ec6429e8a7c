// Elastic Cache. Liu et al., "Efficient Inference of Vision Instruction-Following Models with Elastic Cache", ECCV 2024, arXiv 2407.18121:
// importance-driven merging (section 3.2), fixed-point elimination while decoding (section 3.3); code liuzuyan/ElasticCache
// (kv_cache.py).
//
// Score: column sums of all rows, mean over all heads; one set per layer with the first token(s) and the last. The other kept slots are
// anchors: every dropped slot is averaged into the anchor nearest by token index (merge=off: dropped). While decoding, whenever the layer
// holds a whole slot more than its share of all tokens seen, the slot 25 before the end of the prompt's cache leaves.
// Deviations: ranks and offsets as meant (the code takes ranks from a permutation instead of its inverse and forgets the offset of the
// first tokens).
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition elastic_cache(OptionReader& options);
MethodInfo elastic_cache_info();

}  // namespace winnow
