// PrefixKV. Wang et al., "PrefixKV: Adaptive Prefix KV Cache is What Vision Instruction-Following Models Need for Efficient Generation",
// arXiv 2412.03409, sections 3.2-3.3; code THU-MIG/PrefixKV (prefixkv.py).
//
// Scores as Elastic Cache; budgets so that every layer keeps the same share of its attention mass (allocators/prefix_mass.h), the first
// token(s) and the last always; dropped slots are gone. While decoding as Elastic Cache, with each layer's own share.
// prefixkv-profile takes shares per layer that were measured beforehand at several retentions (option profile, or "prefixkv_profile" in the
// model's winnow.json), as the authors do with ten calibration samples and one file per retention. Deviation: exact totals instead of a
// tolerance of five slots with rescaling.
#include "engine/recipes/allocators/prefix_mass.h"
#include "engine/recipes/measured_options.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/scorers/accumulated.h"

namespace winnow {

namespace {

Composition with(std::unique_ptr<const Allocator> allocator, OptionReader& options) {
  return {.allocator = std::move(allocator),
          .scorer = std::make_unique<AccumulatedScorer>(),
          .granularity = Granularity::kLayer,
          .protection = {.sinks = options.whole("first", 1, 0, 1024)},
          .phase = MethodPhase::kRatioDecode,
          .decode = {.victim = DecodeRule::Victim::kFixedDistance, .distance = options.whole("distance", -25, -4096, -1)}};
}

Composition prefixkv(OptionReader& options) { return with(std::make_unique<PrefixMassAllocator>(), options); }

Composition prefixkv_profile(OptionReader& options) {
  return with(std::make_unique<FixedSharesAllocator>(options.profile(kLayerProfileOption)), options);
}

}  // namespace

const Method kPrefixkv{.name = "prefixkv", .title = "PrefixKV", .source = "Wang et al., arXiv 2412.03409", .compose = prefixkv};
const Method kPrefixkvProfile{
    .name = "prefixkv-profile", .title = "PrefixKV (profile)", .source = "Wang et al., arXiv 2412.03409", .compose = prefixkv_profile};

}  // namespace winnow
