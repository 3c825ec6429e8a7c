// SnapKV. Li et al., "SnapKV: LLM Knows What You are Looking for Before Generation", NeurIPS 2024, arXiv 2404.14469, section 4.1
// (observation window and voting) and 4.2 (pooling); reference code FasterDecoding/SnapKV, snapkv/monkeypatch/snapkv_utils.py.
//
// a[j] = sum over the last w rows of A[i][j] for j < n - w; pooled over k columns; kept = best b - w of them plus the whole window.
// Deviations: query heads of a group are averaged before pooling and each kv head keeps its own set (the authors' code selects per query
// head, which multiplies the memory of grouped-query models by the group size); never fewer than w + 1 slots are kept.
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/window_votes.h"

namespace winnow {

namespace {

Composition snapkv(OptionReader& options) {
  const std::int64_t window = options.whole("window", 32, 1, 4096);
  const std::int64_t kernel = options.odd("kernel", 5, 1023);
  const Pooling pooling = options.choice<Pooling>("pooling", {{"average", Pooling::kAverage}, {"max", Pooling::kMaximum}});
  return {.allocator = std::make_unique<UniformAllocator>(),
          .scorer = std::make_unique<WindowVotesScorer>(window, kernel, pooling, group_reduce(options)),
          .protection = {.window = window}};
}

}  // namespace

const Method kSnapkv{
    .name = "snapkv", .title = "SnapKV", .source = "Li et al., NeurIPS 2024, arXiv 2404.14469", .compose = snapkv, .query_aware = true};

}  // namespace winnow
