#include "engine/compression/recipe.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "engine/base/error.h"
#include "engine/compression/allocators/uniform.h"
#include "engine/compression/method_info.h"
#include "engine/compression/methods/registry.h"
#include "engine/compression/methods/snapkv.h"
#include "engine/compression/methods/streaming_llm.h"
#include "engine/compression/methods/vl_cache.h"

namespace winnow {
namespace {

Error refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Exception& exception) {
    return exception.error();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

Error refusal_of(const std::function<void(RecipeSpec&)>& change) {
  RecipeSpec spec;
  change(spec);
  return refusal([&] { Recipe::from_spec(spec); });
}

TEST(Recipe, RefusesShares) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double retention : {0.0, -0.1, 1.0001, 2.0, kNan, kInfinity}) {
    const Error error = refusal_of([&](RecipeSpec& spec) { spec.retention = retention; });
    EXPECT_EQ(error.code, ErrorCode::kIllegalRecipe) << retention;
    EXPECT_EQ(error.subject, "retention");
  }
}

TEST(Recipe, RefusesBudgetsAndLengths) {
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.budget_tokens = 0; }).subject, "budget");
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.budget_tokens = -3; }).code, ErrorCode::kIllegalRecipe);
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.min_event_tokens = -1; }).subject, "min_event_tokens");
}

TEST(Recipe, TheAbsoluteBudgetWins) {
  RecipeSpec spec;
  spec.retention = 7.0;  // not read
  spec.budget_tokens = 64;
  const Recipe recipe = Recipe::from_spec(spec);
  EXPECT_EQ(recipe.budget().tokens, 64);
  EXPECT_TRUE(recipe.compresses());
}

TEST(Recipe, NamesTheKnownMethods) {
  const Error error = refusal_of([](RecipeSpec& spec) { spec.method = "magic"; });
  EXPECT_EQ(error.code, ErrorCode::kIllegalRecipe);
  EXPECT_EQ(error.reason, "there is no method \"magic\"; known are full, vl-cache, snapkv, streaming-llm, local-window, random");
}

TEST(Recipe, RefusesWholeUntilItExists) {
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.turn_policy = TurnPolicy::kWhole; }).subject, "turn_policy");
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.turn_policy = static_cast<TurnPolicy>(9); }).subject, "turn_policy");
}

TEST(Recipe, RefusesPartsThatDoNotFit) {
  Composition decoding = compose_snapkv();
  decoding.phase = MethodPhase::kDecode;
  EXPECT_EQ(refusal([&] { Recipe::from_parts({}, std::move(decoding)); }).reason,
            "evicting while decoding needs a score that can follow each token; window votes cannot");
  Composition lonely;
  lonely.allocator = std::make_unique<UniformAllocator>();
  EXPECT_EQ(refusal([&] { Recipe::from_parts({}, std::move(lonely)); }).code, ErrorCode::kIllegalRecipe);
  Composition share = compose_vl_cache();
  share.protection.recent_share = 1.5;
  EXPECT_EQ(refusal([&] { Recipe::from_parts({}, std::move(share)); }).code, ErrorCode::kIllegalRecipe);
}

TEST(Recipe, RefusesIllegalMethodOptions) {
  EXPECT_EQ(refusal([] { compose_snapkv({0, 5, Pooling::kAverage}); }).code, ErrorCode::kIllegalRecipe);
  EXPECT_EQ(refusal([] { compose_snapkv({32, 4, Pooling::kAverage}); }).code, ErrorCode::kIllegalRecipe);
  EXPECT_EQ(refusal([] { compose_streaming_llm({-1}); }).code, ErrorCode::kIllegalRecipe);
  VlCacheOptions options;
  options.p = 0.0;
  EXPECT_EQ(refusal([&] { compose_vl_cache(options); }).code, ErrorCode::kIllegalRecipe);
}

TEST(Recipe, KnowsWhenItDoesNothing) {
  RecipeSpec spec;
  spec.method = "full";
  EXPECT_FALSE(Recipe::from_spec(spec).compresses());
  spec.budget_tokens = 10;
  EXPECT_FALSE(Recipe::from_spec(spec).compresses());
  spec = {};
  spec.retention = 1.0;
  EXPECT_FALSE(Recipe::from_spec(spec).compresses());
}

TEST(Recipe, AsksForOneVlCachePass) {
  const Recipe recipe = Recipe::from_spec({});
  ASSERT_EQ(recipe.needs().size(), 1U);  // sums and sparsity over the same rows
  EXPECT_TRUE(recipe.needs()[0].column_sums);
  EXPECT_EQ(recipe.needs()[0].sparsity_p, 0.01);
  EXPECT_FALSE(recipe.static_budgets());
}

TEST(MethodList, DescribesEveryRegisteredMethod) {
  const std::vector<MethodInfo> methods = list_methods();
  ASSERT_EQ(methods.size(), method_registry().size());
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const MethodEntry& entry = method_registry()[i];
    const Composition composition = entry.compose(1);
    EXPECT_EQ(methods[i].name, entry.name);
    EXPECT_EQ(composition.method, entry.name);
    EXPECT_FALSE(methods[i].title.empty());
    EXPECT_FALSE(methods[i].source.empty());
    EXPECT_EQ(methods[i].phase, composition.phase == MethodPhase::kDecode ? "decode" : "once");
    // A card that says "knows the question" must be backed by a statistic, and the other way round.
    const bool uses_views = composition.scorer != nullptr && (composition.scorer->need() || composition.allocator->need());
    EXPECT_EQ(methods[i].query_aware, uses_views) << entry.name;
    EXPECT_EQ(methods[i].needs.empty(), !uses_views) << entry.name;
  }
}

}  // namespace
}  // namespace winnow
