#include "engine/compression/methods/vl_cache.h"

#include "engine/base/error.h"
#include "engine/compression/allocators/sparsity.h"
#include "engine/compression/scorers/post_vision.h"

namespace winnow {

Composition compose_vl_cache(const VlCacheOptions& options) {
  if (!(options.p > 0.0 && options.p <= 1.0)) throw Exception(ErrorCode::kIllegalRecipe, "vl-cache", "p must be over 0 and at most 1");
  if (options.min_stat_rows < 1 || options.max_stat_rows < 0) {
    throw Exception(ErrorCode::kIllegalRecipe, "vl-cache", "statistics need at least one row, and a limit of rows is 0 (none) or positive");
  }
  RowRule rows;
  rows.kind = RowRule::Kind::kPostVision;
  rows.min_rows = options.min_stat_rows;
  rows.max_rows = options.max_stat_rows;
  Composition composition;
  composition.method = "vl-cache";
  composition.allocator = std::make_unique<SparsityAllocator>(rows, options.p);
  composition.scorer = std::make_unique<PostVisionScorer>(rows);
  composition.protection.recent_share = options.recent_share;
  composition.min_fraction = 0.01;
  composition.faithful_clip = options.faithful_clip;
  return composition;
}

MethodInfo vl_cache_info() {
  MethodInfo info;
  info.name = "vl-cache";
  info.title = "VL-Cache";
  info.source = "Tu et al., ICLR 2025, arXiv 2410.23317";
  info.phase = "once";
  info.query_aware = true;
  info.needs = {"column sums of the post-vision rows", "sparsity of the post-vision rows"};
  info.options = {"p=0.01", "recent_share=0.1", "min_stat_rows=1", "max_stat_rows=0", "faithful_clip=false"};
  return info;
}

}  // namespace winnow
