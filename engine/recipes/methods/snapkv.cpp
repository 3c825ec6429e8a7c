#include "engine/recipes/methods/snapkv.h"

#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/window_votes.h"

namespace winnow {

Composition snapkv(OptionReader& options) {
  const std::int64_t window = options.whole("window", 32, 1, 4096);
  const std::int64_t kernel = options.odd("kernel", 5, 1023);
  const Pooling pooling = options.choice<Pooling>("pooling", {{"average", Pooling::kAverage}, {"max", Pooling::kMaximum}});
  Composition composition;
  composition.method = "snapkv";
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<WindowVotesScorer>(window, kernel, pooling, group_reduce(options));
  composition.protection.window = window;
  return composition;
}

MethodInfo snapkv_info() {
  MethodInfo info;
  info.name = "snapkv";
  info.title = "SnapKV";
  info.source = "Li et al., NeurIPS 2024, arXiv 2404.14469";
  info.query_aware = true;
  info.needs = {"column sums of the last 32 rows"};
  return info;
}

}  // namespace winnow
