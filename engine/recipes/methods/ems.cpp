#include "engine/recipes/methods/ems.h"

#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/reducers/shared_entries.h"
#include "engine/recipes/scorers/global_local.h"

namespace winnow {

namespace {

Composition sharing(const char* method, bool no_position, OptionReader& options) {
  using Rotation = SharedEntries::Rotation;
  const std::int64_t window = options.whole("window", 32, 1, 4096);
  Composition composition;
  composition.method = method;
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<GlobalLocalScorer>(window, options.odd("kernel", 7, 255));
  composition.protection.window = window;
  composition.phase = MethodPhase::kDecode;
  composition.decode.accumulates = true;
  composition.decode.local_rows = window;
  SharingRule rule;
  rule.magnification = options.real("magnification", 4.0, 1.0, 64.0);
  rule.least_similarity = options.real("tau", 0.6, -1.0, 1.0);
  rule.zero_counts = options.choice<bool>("zero_mode", {{"masked", false}, {"literal", true}});
  if (no_position) rule.rotation = options.choice<Rotation>("rotation", {{"rank", Rotation::kByRank}, {"original", Rotation::kByOriginal}});
  composition.reducer = std::make_shared<SharedEntriesReducer>(rule);
  return composition;
}

}  // namespace

Composition ems(OptionReader& options) { return sharing("ems", false, options); }
Composition ems_no_position(OptionReader& options) { return sharing("ems-no-position", true, options); }

MethodInfo ems_info() {
  MethodInfo info;
  info.name = "ems";
  info.title = "EMS";
  info.source = "Li et al., arXiv 2412.08521";
  info.query_aware = true;
  info.merges = true;
  info.needs = {"column sums of all rows", "column sums of the last rows", "decode rows"};
  return info;
}

MethodInfo ems_no_position_info() {
  MethodInfo info = ems_info();
  info.name = "ems-no-position";
  info.title = "EMS without position";
  info.needs.emplace_back("one-axis rotary positions");
  return info;
}

}  // namespace winnow
