#include "engine/compression/recipe.h"

#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/compression/methods/registry.h"

namespace winnow {

namespace {

[[noreturn]] void refuse(const char* subject, const std::string& reason) { throw Exception(ErrorCode::kIllegalRecipe, subject, reason); }

BudgetRequest checked_budget(const RecipeSpec& spec) {
  BudgetRequest request;
  if (spec.budget_tokens) {
    if (*spec.budget_tokens < 1) refuse("budget", "a budget is at least one token per layer");
    request.tokens = *spec.budget_tokens;
  } else {
    // Written so that NaN is refused too.
    if (!(spec.retention > 0.0 && spec.retention <= 1.0)) refuse("retention", "the share to keep must be over 0 and at most 1");
    request.retention = spec.retention;
  }
  return request;
}

void check_parts(const Composition& composition) {
  const bool has_allocator = composition.allocator != nullptr;
  const bool has_scorer = composition.scorer != nullptr;
  if (has_allocator != has_scorer) refuse("method", "an allocator and a scorer belong together");
  if (composition.phase == MethodPhase::kDecode && (!has_scorer || !composition.scorer->follows_decode())) {
    refuse("method", "evicting while decoding needs a score that can follow each token" +
                         (has_scorer ? "; " + composition.scorer->name() + " cannot" : std::string()));
  }
  const Protection& protection = composition.protection;
  if (protection.sinks < 0 || protection.window < 0 || !(protection.recent_share >= 0.0 && protection.recent_share <= 1.0)) {
    refuse("method", "protected slots are not negative, and a protected share is at most 1");
  }
  if (!(composition.min_fraction >= 0.0 && composition.min_fraction <= 1.0)) {
    refuse("method", "the least share of a layer is between 0 and 1");
  }
}

}  // namespace

Recipe::Recipe(Composition composition, BudgetRequest budget, const RecipeSpec& spec)
    : composition_(std::move(composition)), budget_(budget), turn_policy_(spec.turn_policy), min_event_tokens_(spec.min_event_tokens) {
  std::vector<StatisticsNeed> needs;
  if (composition_.allocator != nullptr) {
    if (auto need = composition_.allocator->need()) needs.push_back(*need);
    if (auto need = composition_.scorer->need()) needs.push_back(*need);
  }
  needs_ = merge_needs(needs);
}

Recipe Recipe::from_spec(const RecipeSpec& spec) {
  std::string known;
  for (const MethodEntry& entry : method_registry()) {
    if (spec.method == entry.name) return from_parts(spec, entry.compose(spec.seed));
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  refuse("method", "there is no method \"" + spec.method + "\"; known are " + known);
}

Recipe Recipe::from_parts(const RecipeSpec& spec, Composition composition) {
  const BudgetRequest budget = checked_budget(spec);
  if (spec.min_event_tokens < 0) refuse("min_event_tokens", "a number of tokens is not negative");
  switch (spec.turn_policy) {
    case TurnPolicy::kSegment:
    case TurnPolicy::kFirstOnly: break;
    case TurnPolicy::kWhole: refuse("turn_policy", "compressing earlier turns again (whole) is not available yet");
    default: refuse("turn_policy", "there is no such turn policy");
  }
  check_parts(composition);
  return Recipe(std::move(composition), budget, spec);
}

bool Recipe::compresses() const { return composition_.scorer != nullptr && (budget_.tokens || budget_.retention < 1.0); }

bool Recipe::static_budgets() const { return composition_.allocator == nullptr || !composition_.allocator->need(); }

}  // namespace winnow
