// EMS. Li et al., "EMS: Adaptive Evict-then-Merge Strategy for Head-wise KV Cache Compression Based on Global-Local Importance", arXiv
// 2412.08521: score (equation 2), local sums while decoding (section 3.3), sharing (section 4.2, appendix A). No public code.
//
// Score: the larger of local (last 32 rows) and scaled global attention, pooled over 7 tokens at the event. Per kv head the best tokens
// keep a slot each, the next (gamma - 1) times as many share the slot of a similar one (cosine of keys times cosine of values at least tau)
// or are masked (zero class), the rest is evicted. A slot stores a mean direction and a mean value; a look-up table adds each token's key
// length. While decoding the token that leaves the window becomes a slot and the least slot is merged. ems-no-position compares and stores
// keys before rotation and rotates them at use by rank (option rotation=original: to their own positions).
// Options: zero_mode=literal gives masked tokens key and value 0 in the softmax, as the paper words it; for comparison only.
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/reducers/shared_entries.h"
#include "engine/recipes/scorers/global_local.h"

namespace winnow {

namespace {

Composition sharing(bool no_position, OptionReader& options) {
  using Rotation = SharedEntries::Rotation;
  const std::int64_t window = options.whole("window", 32, 1, 4096);
  Composition composition{.allocator = std::make_unique<UniformAllocator>(),
                          .scorer = std::make_unique<GlobalLocalScorer>(window, options.odd("kernel", 7, 255)),
                          .protection = {.window = window},
                          .phase = MethodPhase::kDecode,
                          .decode = {.accumulates = true, .local_rows = window}};
  SharingRule rule;
  rule.magnification = options.real("magnification", 4.0, 1.0, 64.0);
  rule.least_similarity = options.real("tau", 0.6, -1.0, 1.0);
  rule.zero_counts = options.choice<bool>("zero_mode", {{"masked", false}, {"literal", true}});
  if (no_position) rule.rotation = options.choice<Rotation>("rotation", {{"rank", Rotation::kByRank}, {"original", Rotation::kByOriginal}});
  composition.reducer = std::make_shared<SharedEntriesReducer>(rule);
  return composition;
}

Composition ems(OptionReader& options) { return sharing(false, options); }
Composition ems_no_position(OptionReader& options) { return sharing(true, options); }

}  // namespace

const Method kEms{.name = "ems", .title = "EMS", .source = "Li et al., arXiv 2412.08521", .compose = ems, .query_aware = true};
const Method kEmsNoPosition{.name = "ems-no-position",
                            .title = "EMS without position",
                            .source = "Li et al., arXiv 2412.08521",
                            .compose = ems_no_position,
                            .query_aware = true};

}  // namespace winnow
