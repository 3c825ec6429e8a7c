// PrefixKV. Wang et al., "PrefixKV: Adaptive Prefix KV Cache is What Vision Instruction-Following Models Need for Efficient Generation",
// arXiv 2412.03409, sections 3.2-3.3; code THU-MIG/PrefixKV (prefixkv.py).
//
// Scores as Elastic Cache; budgets so that every layer keeps the same share of its attention mass (allocators/prefix_mass.h), the first
// token(s) and the last always; dropped slots are gone. While decoding as Elastic Cache, with each layer's own share.
// prefixkv-profile takes shares per layer that were measured beforehand at several retentions (option profile, or "prefixkv_profile" in the
// model's winnow.json), as the authors do with ten calibration samples and one file per retention. Deviation: exact totals instead of a
// tolerance of five slots with rescaling.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition prefixkv(OptionReader& options);
MethodInfo prefixkv_info();
Composition prefixkv_profile(OptionReader& options);
MethodInfo prefixkv_profile_info();

}  // namespace winnow
