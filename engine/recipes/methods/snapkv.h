// SnapKV. Li et al., "SnapKV: LLM Knows What You are Looking for Before Generation", NeurIPS 2024, arXiv 2404.14469, section 4.1
// (observation window and voting) and 4.2 (pooling); reference code FasterDecoding/SnapKV, snapkv/monkeypatch/snapkv_utils.py.
//
// a[j] = sum over the last w rows of A[i][j] for j < n - w; pooled over k columns; kept = best b - w of them plus the whole window.
// Deviations: query heads of a group are averaged before pooling and each kv head keeps its own set (the authors' code selects per query
// head, which multiplies the memory of grouped-query models by the group size); never fewer than w + 1 slots are kept.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition snapkv(OptionReader& options);
MethodInfo snapkv_info();

}  // namespace winnow
