// PyramidKV. Cai et al., "PyramidKV: Dynamic KV Cache Compression based on Pyramidal Information Funneling", arXiv 2406.02069, section 4;
// reference code Zefan-Cai/KVCache-Factory, pyramidkv/pyramidkv_utils.py.
//
// SnapKV's scores (window 8, maximum pooling over 7 columns) with budgets that fall linearly with depth (allocators/pyramid.h).
// Deviations: the total is exact (the code floors the steps and adds the window on top); no switch to equal budgets for short prompts; kv
// heads as in snapkv.h.
#include "engine/recipes/allocators/pyramid.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/window_votes.h"

namespace winnow {

namespace {

Composition pyramidkv(OptionReader& options) {
  const std::int64_t window = options.whole("window", 8, 1, 4096);
  const std::int64_t kernel = options.odd("kernel", 7, 1023);
  const Pooling pooling = options.choice<Pooling>("pooling", {{"max", Pooling::kMaximum}, {"average", Pooling::kAverage}});
  return {.allocator = std::make_unique<PyramidAllocator>(window, options.real("beta", 20.0, 1.0, 1000.0)),
          .scorer = std::make_unique<WindowVotesScorer>(window, kernel, pooling, group_reduce(options)),
          .protection = {.window = window}};
}

}  // namespace

const Method kPyramidkv{
    .name = "pyramidkv", .title = "PyramidKV", .source = "Cai et al., arXiv 2406.02069", .compose = pyramidkv, .query_aware = true};

}  // namespace winnow
