#include "engine/recipes/methods/pyramidkv.h"

#include "engine/recipes/allocators/pyramid.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/window_votes.h"

namespace winnow {

Composition pyramidkv(OptionReader& options) {
  const std::int64_t window = options.whole("window", 8, 1, 4096);
  const std::int64_t kernel = options.odd("kernel", 7, 1023);
  const Pooling pooling = options.choice<Pooling>("pooling", {{"max", Pooling::kMaximum}, {"average", Pooling::kAverage}});
  Composition composition;
  composition.method = "pyramidkv";
  composition.allocator = std::make_unique<PyramidAllocator>(window, options.real("beta", 20.0, 1.0, 1000.0));
  composition.scorer = std::make_unique<WindowVotesScorer>(window, kernel, pooling, group_reduce(options));
  composition.protection.window = window;
  return composition;
}

MethodInfo pyramidkv_info() {
  MethodInfo info;
  info.name = "pyramidkv";
  info.title = "PyramidKV";
  info.source = "Cai et al., arXiv 2406.02069";
  info.query_aware = true;
  info.needs = {"column sums of the last 8 rows"};
  return info;
}

}  // namespace winnow
