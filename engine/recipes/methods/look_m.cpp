#include "engine/recipes/methods/look_m.h"

#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/reducers/average.h"
#include "engine/recipes/reducers/pivot.h"
#include "engine/recipes/reducers/weighted.h"
#include "engine/recipes/scorers/text_prior.h"

namespace winnow {

namespace {

Composition merging(const char* method, std::shared_ptr<const Reducer> reducer, OptionReader& options) {
  Composition composition;
  composition.method = method;
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<TextPriorScorer>();
  composition.reducer = std::move(reducer);
  composition.protection.recent_share = options.real("recent_share", 0.5, 0.0, 1.0);
  composition.protection.all_text = options.choice<bool>("text_policy", {{"boost", false}, {"hard", true}});
  return composition;
}

MethodInfo described_look_m(const char* name, const char* title) {
  MethodInfo info;
  info.name = name;
  info.title = title;
  info.source = "Wan et al., Findings of EMNLP 2024, arXiv 2406.18139";
  info.merges = true;
  info.needs = {"column sums of all rows"};
  return info;
}

}  // namespace

Composition look_m(OptionReader& options) { return merging("look-m", std::make_shared<PivotReducer>(), options); }
Composition look_m_average(OptionReader& options) { return merging("look-m-average", std::make_shared<AverageReducer>(), options); }

Composition look_m_weighted(OptionReader& options) {
  Composition composition = merging("look-m-weighted", nullptr, options);
  composition.reducer = std::make_shared<WeightedReducer>(options.choice<bool>("merge_gate", {{"none", false}, {"mean", true}}));
  return composition;
}

MethodInfo look_m_info() { return described_look_m("look-m", "LOOK-M (pivotal)"); }
MethodInfo look_m_average_info() { return described_look_m("look-m-average", "LOOK-M (averaged)"); }
MethodInfo look_m_weighted_info() { return described_look_m("look-m-weighted", "LOOK-M (weighted)"); }

}  // namespace winnow
