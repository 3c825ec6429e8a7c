#include "engine/compression/methods/snapkv.h"

#include "engine/base/error.h"
#include "engine/compression/allocators/uniform.h"
#include "engine/compression/scorers/window_votes.h"

namespace winnow {

Composition compose_snapkv(const SnapKvOptions& options) {
  if (options.window < 1) throw Exception(ErrorCode::kIllegalRecipe, "snapkv", "the observation window needs at least one token");
  if (options.kernel < 1 || options.kernel % 2 == 0) throw Exception(ErrorCode::kIllegalRecipe, "snapkv", "the pooling kernel must be odd");
  Composition composition;
  composition.method = "snapkv";
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<WindowVotesScorer>(options.window, options.kernel, options.pooling);
  composition.protection.window = options.window;
  return composition;
}

MethodInfo snapkv_info() {
  MethodInfo info;
  info.name = "snapkv";
  info.title = "SnapKV";
  info.source = "Li et al., NeurIPS 2024, arXiv 2404.14469";
  info.phase = "once";
  info.query_aware = true;
  info.needs = {"column sums of the last 32 rows"};
  info.options = {"window=32", "kernel=5", "pooling=average"};
  return info;
}

}  // namespace winnow
