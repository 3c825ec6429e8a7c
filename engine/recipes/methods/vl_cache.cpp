#include "engine/recipes/methods/vl_cache.h"

#include "engine/recipes/allocators/sparsity.h"
#include "engine/recipes/scorers/post_vision.h"

namespace winnow {

Composition vl_cache(OptionReader& options) {
  RowRule rows;
  rows.kind = RowRule::Kind::kPostVision;
  rows.min_rows = options.whole("min_stat_rows", 1, 1, 1 << 20);
  rows.max_rows = options.whole("max_stat_rows", 0, 0, 1 << 20);
  Composition composition;
  composition.method = "vl-cache";
  composition.allocator = std::make_unique<SparsityAllocator>(rows, options.real("p", 0.01, 1e-9, 1.0));
  composition.scorer = std::make_unique<PostVisionScorer>(rows);
  composition.protection.recent_share = options.real("recent_share", 0.10, 0.0, 1.0);
  composition.min_fraction = 0.01;
  composition.faithful_clip = options.flag("faithful_clip", false);
  return composition;
}

MethodInfo vl_cache_info() {
  MethodInfo info;
  info.name = "vl-cache";
  info.title = "VL-Cache";
  info.source = "Tu et al., ICLR 2025, arXiv 2410.23317";
  info.query_aware = true;
  info.needs = {"column sums of the post-vision rows", "sparsity of the post-vision rows"};
  return info;
}

}  // namespace winnow
