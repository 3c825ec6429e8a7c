#include "engine/recipes/methods/prefixkv.h"

#include "engine/recipes/allocators/fixed_shares.h"
#include "engine/recipes/allocators/prefix_mass.h"
#include "engine/recipes/measured_options.h"
#include "engine/recipes/scorers/accumulated.h"

namespace winnow {

namespace {

Composition with(const char* method, std::unique_ptr<const Allocator> allocator, OptionReader& options) {
  Composition composition;
  composition.method = method;
  composition.allocator = std::move(allocator);
  composition.scorer = std::make_unique<AccumulatedScorer>();
  composition.granularity = Granularity::kLayer;
  composition.protection.sinks = options.whole("first", 1, 0, 1024);
  composition.phase = MethodPhase::kRatioDecode;
  composition.decode.victim = DecodeRule::Victim::kFixedDistance;
  composition.decode.distance = options.whole("distance", -25, -4096, -1);
  return composition;
}

MethodInfo described_prefixkv(const char* name, const char* title) {
  MethodInfo info;
  info.name = name;
  info.title = title;
  info.source = "Wang et al., arXiv 2412.03409";
  info.needs = {"column sums of all rows"};
  return info;
}

}  // namespace

Composition prefixkv(OptionReader& options) { return with("prefixkv", std::make_unique<PrefixMassAllocator>(), options); }

Composition prefixkv_profile(OptionReader& options) {
  return with("prefixkv-profile", std::make_unique<FixedSharesAllocator>(options.profile(kLayerProfileOption)), options);
}

MethodInfo prefixkv_info() { return described_prefixkv("prefixkv", "PrefixKV"); }
MethodInfo prefixkv_profile_info() { return described_prefixkv("prefixkv-profile", "PrefixKV (profile)"); }

}  // namespace winnow
