// PyramidKV. Cai et al., "PyramidKV: Dynamic KV Cache Compression based on Pyramidal Information Funneling", arXiv 2406.02069, section 4;
// reference code Zefan-Cai/KVCache-Factory, pyramidkv/pyramidkv_utils.py.
//
// SnapKV's scores (window 8, maximum pooling over 7 columns) with budgets that fall linearly with depth (allocators/pyramid.h).
// Deviations: the total is exact (the code floors the steps and adds the window on top); no switch to equal budgets for short prompts; kv
// heads as in snapkv.h.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition pyramidkv(OptionReader& options);
MethodInfo pyramidkv_info();

}  // namespace winnow
