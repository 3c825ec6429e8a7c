// One suite that every registered method passes: exact budgets, protected slots, valid and deterministic plans, awkward segments, turns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "engine/base/error.h"
#include "engine/compression/segment_compressor.h"
#include "engine/recipes/methods/registry.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/engine/compression/named_composition.h"
#include "tests/support/measured_options.h"

namespace winnow {
namespace {

constexpr std::int64_t kSuiteLayers = 3;
constexpr std::int64_t kSuiteHeads = 4;
constexpr std::int64_t kSuiteKvHeads = 2;
constexpr std::int64_t kSuiteDim = 8;

using Modalities = std::vector<Modality>;

struct Event {
  Scope scope = Scope::kAll;
  Granularity granularity = Granularity::kHead;
  bool whole_heads = false;
  std::vector<std::int64_t> budgets;
  std::vector<LayerPlan> plans;  // empty: nothing is compressed
};

struct Past {
  std::int32_t tokens = 0;          // seen earlier
  std::vector<std::int64_t> slots;  // retained per kv head
};

Event compress(const RecipeSpec& spec, const Modalities& modality, const Past& past = {}) {
  const Recipe recipe = Recipe::from_spec(spec);
  SegmentCompressor compressor(recipe, testing::segment_of(modality, kSuiteLayers, kSuiteHeads, kSuiteKvHeads, past.tokens));
  Event event;
  event.scope = recipe.composition().scope;
  event.granularity = recipe.composition().granularity;
  event.whole_heads = recipe.composition().allocator != nullptr && recipe.composition().allocator->whole_heads();
  if (compressor.will_compress()) {
    for (LayerId layer{0}; layer < kSuiteLayers; ++layer) {
      if (compressor.wants_views()) {
        // Spread grows with depth, so that layers differ in sparsity.
        LayerView view = testing::random_view(layer, kSuiteHeads, kSuiteKvHeads, static_cast<std::int64_t>(modality.size()), kSuiteDim,
                                              past.slots, 1.0 + 3.0 * static_cast<double>(layer));
        testing::set_log_sum_exp(view);
        compressor.on_layer(view);
      }
      if (recipe.needs().probe) compressor.on_probe(layer, testing::random_votes(layer, compressor.segment()));
      if (recipe.static_budgets()) {
        EXPECT_TRUE(compressor.plan_ready(layer));
      }
    }
    for (LayerId layer{0}; layer < kSuiteLayers; ++layer) {
      EXPECT_TRUE(compressor.plan_ready(layer));
      event.plans.push_back(compressor.plan(layer));
    }
  }
  event.budgets = compressor.budgets();
  return event;
}

// Tokens that compete for slots.
std::int64_t candidates(const Event& event, const Modalities& modality) {
  if (event.scope == Scope::kAll) return static_cast<std::int64_t>(modality.size());
  if (event.scope == Scope::kContext) {
    const auto first = std::find(modality.begin(), modality.end(), Modality::kVisual);
    const auto last = std::find(modality.rbegin(), modality.rend(), Modality::kVisual).base();
    return first < last ? last - first : 0;
  }
  return std::count(modality.begin(), modality.end(), Modality::kVisual);
}

void expect_valid(const Event& event, const Modalities& modality) {
  const auto n = static_cast<std::int64_t>(modality.size());
  const std::int64_t beside = n - candidates(event, modality);
  const auto first_visual = std::find(modality.begin(), modality.end(), Modality::kVisual) - modality.begin();
  for (std::size_t layer = 0; layer < event.plans.size(); ++layer) {
    const LayerPlan& plan = event.plans[layer];
    EXPECT_EQ(plan.budget, event.budgets[layer]);
    ASSERT_EQ(plan.kept.size(), static_cast<std::size_t>(kSuiteKvHeads));
    std::int64_t pairs = 0;
    for (const auto& kept : plan.kept) {
      pairs += std::ssize(kept) - beside;
      if (event.granularity == Granularity::kRagged) {
        ASSERT_GE(std::ssize(kept), beside);
        if (kept.empty()) continue;
      } else {
        ASSERT_EQ(static_cast<std::int64_t>(kept.size()), plan.budget + beside);
      }
      ASSERT_TRUE(std::is_sorted(kept.begin(), kept.end()));
      ASSERT_EQ(std::set<std::int32_t>(kept.begin(), kept.end()).size(), kept.size());
      ASSERT_GE(kept.front(), 0);
      ASSERT_LT(kept.back(), n);
      if (event.scope == Scope::kAll) {
        ASSERT_EQ(kept.back(), n - 1) << "the last token always stays";
      } else {
        for (std::int32_t row = 0; row < n; ++row) {
          if (modality[static_cast<std::size_t>(row)] == Modality::kVisual) continue;
          const bool between = row >= first_visual && row < first_visual + candidates(event, modality);
          if (event.scope == Scope::kContext && between) continue;
          ASSERT_TRUE(std::binary_search(kept.begin(), kept.end(), row)) << "text is no candidate";
        }
      }
    }
    if (event.granularity == Granularity::kRagged) {
      EXPECT_NEAR(static_cast<double>(pairs) / kSuiteKvHeads, static_cast<double>(plan.budget), 1.0) << "the mean of its heads";
    }
    if (event.granularity == Granularity::kLayer) {
      for (const auto& kept : plan.kept) ASSERT_EQ(kept, plan.kept.front()) << "one set for all heads";
    }
  }
}

std::int64_t sum(const std::vector<std::int64_t>& budgets) { return std::accumulate(budgets.begin(), budgets.end(), std::int64_t{0}); }

// Of a ragged event: slots of the context that stay, of all heads and layers.
std::int64_t total_pairs(const Event& event, const Modalities& modality) {
  std::int64_t pairs = 0;
  for (const LayerPlan& plan : event.plans) {
    for (const auto& kept : plan.kept) pairs += std::ssize(kept) - (std::ssize(modality) - candidates(event, modality));
  }
  return pairs;
}

// Valid plans and the exact total, or the floor of every layer where that is more than was asked for.
void expect_lawful(const Event& event, const Modalities& modality, const RecipeSpec& spec) {
  expect_valid(event, modality);
  if (event.plans.empty()) return;
  const std::int64_t competing = candidates(event, modality);
  const std::int64_t wanted = total_budget(Recipe::from_spec(spec).budget(), kSuiteLayers, competing);
  if (event.granularity == Granularity::kRagged) {
    // No layer is left without a slot, however little was asked for.
    const std::int64_t off =
        total_pairs(event, modality) - std::max(wanted * kSuiteKvHeads, std::min(kSuiteLayers, kSuiteLayers * competing));
    EXPECT_LE(std::abs(off), event.whole_heads ? competing / 2 + kSuiteKvHeads : kSuiteKvHeads)
        << "retention " << spec.retention << ", " << competing << " compete, wanted " << wanted;
    return;
  }
  const std::int64_t least = *std::min_element(event.budgets.begin(), event.budgets.end());
  EXPECT_TRUE(sum(event.budgets) == wanted || (sum(event.budgets) == kSuiteLayers * least && sum(event.budgets) > wanted));
}

class MethodSuite : public ::testing::TestWithParam<std::string> {
 protected:
  RecipeSpec spec(double retention) const {
    RecipeSpec spec;
    spec.method = GetParam();
    spec.retention = retention;
    spec.min_event_tokens = 0;
    spec.seed = 17;
    return test_support::as_measured(spec, kSuiteLayers, kSuiteKvHeads);
  }
  bool compresses() const { return GetParam() != "full"; }
};

TEST_P(MethodSuite, ShareOfOneIsNoEvent) {
  const Event event = compress(spec(1.0), testing::image_then_text(5, 60, 10));
  EXPECT_TRUE(event.plans.empty());
  EXPECT_EQ(event.budgets, (std::vector<std::int64_t>(kSuiteLayers, 75)));
}

TEST_P(MethodSuite, ABudgetThatCoversTheSegmentIsNoEvent) {
  RecipeSpec generous = spec(0.1);
  generous.budget_tokens = 75;
  EXPECT_TRUE(compress(generous, testing::image_then_text(5, 60, 10)).plans.empty());
}

TEST_P(MethodSuite, BudgetsSumExactly) {
  const Modalities modality = testing::image_then_text(5, 150, 20);
  for (const double retention : {0.25, 0.333, 0.5, 0.9}) {
    const Event event = compress(spec(retention), modality);
    expect_valid(event, modality);
    if (compresses()) {
      const auto competing = static_cast<double>(kSuiteLayers * candidates(event, modality));
      if (event.whole_heads) {
        EXPECT_EQ(total_pairs(event, modality), candidates(event, modality) * round_half_up(retention * kSuiteLayers * kSuiteKvHeads))
            << retention;
        continue;
      }
      if (event.granularity == Granularity::kRagged) {
        EXPECT_EQ(total_pairs(event, modality), round_half_up(retention * kSuiteKvHeads * competing)) << retention;
        continue;
      }
      EXPECT_EQ(sum(event.budgets), static_cast<std::int64_t>(std::floor(retention * competing + 0.5))) << retention;
    }
  }
  RecipeSpec absolute = spec(0.1);
  absolute.budget_tokens = 50;
  if (compresses()) {
    EXPECT_EQ(sum(compress(absolute, modality).budgets), 150);
  }
}

TEST_P(MethodSuite, ProtectedSlotsStay) {
  const Modalities modality = testing::image_then_text(5, 150, 20);
  const Event event = compress(spec(0.25), modality);
  expect_valid(event, modality);
  for (const Method* entry : method_registry()) {
    if (entry->name != GetParam()) continue;
    const Protection protection = testing::composition_of(entry->name).protection;
    for (const LayerPlan& plan : event.plans) {
      const std::int64_t recent =
          protection.recent_share > 0 ? share_of(protection.recent_share, plan.budget) : std::max<std::int64_t>(1, protection.window);
      for (const auto& kept : plan.kept) {
        for (std::int64_t row = 0; row < protection.sinks; ++row) EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), row));
        for (std::int64_t row = 175 - recent; row < 175; ++row) EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), row));
      }
    }
  }
}

TEST_P(MethodSuite, FullLayersKeepEverythingAndTheOthersPay) {
  const Modalities modality = testing::image_then_text(5, 150, 20);
  RecipeSpec first = spec(0.6);
  first.full_layers = 1;
  const Event event = compress(first, modality);
  expect_lawful(event, modality, first);
  if (!compresses()) return;
  ASSERT_EQ(std::ssize(event.plans), kSuiteLayers);
  EXPECT_EQ(event.budgets.front(), candidates(event, modality));
  for (const auto& kept : event.plans.front().kept) EXPECT_EQ(std::ssize(kept), std::ssize(modality));
  for (std::size_t layer = 1; layer < event.budgets.size(); ++layer) EXPECT_LT(event.budgets[layer], event.budgets.front());
  RecipeSpec all = first;
  all.full_layers = kSuiteLayers;
  EXPECT_TRUE(compress(all, modality).plans.empty()) << "nothing is left to compress";
}

TEST_P(MethodSuite, IsDeterministic) {
  const Modalities modality = testing::image_then_text(5, 150, 20);
  const Event first = compress(spec(0.3), modality);
  const Event second = compress(spec(0.3), modality);
  ASSERT_EQ(first.plans.size(), second.plans.size());
  for (std::size_t layer = 0; layer < first.plans.size(); ++layer) EXPECT_EQ(first.plans[layer].kept, second.plans[layer].kept);
}

TEST_P(MethodSuite, SurvivesAwkwardSegments) {
  using enum Modality;
  Modalities interleaved;
  for (int i = 0; i < 120; ++i) interleaved.push_back(i % 7 < 4 ? kVisual : kText);
  const std::vector<Modalities> segments = {testing::image_then_text(0, 0, 1),
                                            testing::image_then_text(0, 1, 0),
                                            testing::image_then_text(0, 0, 32),
                                            testing::image_then_text(0, 0, 33),
                                            testing::image_then_text(0, 0, 34),
                                            testing::image_then_text(0, 40, 0),
                                            testing::image_then_text(0, 60, 10),
                                            testing::image_then_text(40, 60, 0),
                                            testing::image_then_text(0, 0, 100),
                                            testing::image_then_text(10, 50, 1),
                                            interleaved};
  for (const Modalities& modality : segments) {
    for (const double retention : {0.001, 0.2, 0.7}) {
      SCOPED_TRACE(::testing::Message() << modality.size() << " tokens, retention " << retention);
      const auto n = static_cast<std::int64_t>(modality.size());
      const Event event = compress(spec(retention), modality);
      expect_valid(event, modality);
      for (const std::int64_t budget : event.budgets) {
        EXPECT_GE(budget, event.granularity == Granularity::kRagged ? 0 : 1);
        EXPECT_LE(budget, n);
      }
    }
  }
}

TEST_P(MethodSuite, CompressesLaterTurnsOverRetainedSlots) {
  const Modalities modality = testing::image_then_text(0, 80, 20);
  const Event event = compress(spec(0.4), modality, {300, {70, 50}});
  expect_valid(event, modality);
  if (compresses()) {
    if (event.whole_heads) {
      EXPECT_EQ(total_pairs(event, modality), candidates(event, modality) * round_half_up(0.4 * kSuiteLayers * kSuiteKvHeads));
      return;
    }
    const std::int64_t wanted = round_half_up(0.4 * static_cast<double>(kSuiteLayers * candidates(event, modality)));
    EXPECT_LE(std::abs(sum(event.budgets) - wanted), event.granularity == Granularity::kRagged ? 1 : 0);
  }
}

TEST_P(MethodSuite, KeepsShortTextSegmentsWhole) {
  RecipeSpec short_rule = spec(0.2);
  short_rule.min_event_tokens = 256;
  EXPECT_TRUE(compress(short_rule, testing::image_then_text(0, 0, 255)).plans.empty());
  const bool text_competes = compresses() && Recipe::from_spec(short_rule).composition().scope == Scope::kAll;
  EXPECT_EQ(compress(short_rule, testing::image_then_text(0, 0, 256)).plans.empty(), !text_competes);
  EXPECT_EQ(compress(short_rule, testing::image_then_text(0, 150, 20)).plans.empty(), !compresses());
}

TEST_P(MethodSuite, FirstOnlyCompressesTheFirstImagesOnly) {
  RecipeSpec first_only = spec(0.2);
  first_only.turn_policy = TurnPolicy::kFirstOnly;
  const Recipe recipe = Recipe::from_spec(first_only);
  const Modalities images = testing::image_then_text(5, 150, 20);
  const Modalities text = testing::image_then_text(0, 0, 300);
  SegmentInfo segment = testing::segment_of(images, kSuiteLayers, kSuiteHeads, kSuiteKvHeads);
  EXPECT_EQ(SegmentCompressor(recipe, segment).will_compress(), compresses());
  EXPECT_FALSE(SegmentCompressor(recipe, testing::segment_of(text, kSuiteLayers, kSuiteHeads, kSuiteKvHeads)).will_compress());
  segment.compressed_before = true;
  EXPECT_FALSE(SegmentCompressor(recipe, segment).will_compress());
}

TEST_P(MethodSuite, HoldsItsRulesOnRandomRecipes) {
  std::mt19937 random(23);
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); };
  for (int round = 0; round < 40; ++round) {
    Modalities modality;
    for (std::int64_t i = pick(1, 150); i > 0; --i) modality.push_back(static_cast<Modality>(pick(1, 3)));
    RecipeSpec random_spec = spec(static_cast<double>(pick(1, 1000)) / 1000.0);
    if (pick(0, 2) == 0) random_spec.budget_tokens = static_cast<int>(pick(1, 200));
    random_spec.seed = static_cast<std::uint64_t>(round);
    Past past;
    if (pick(0, 1) == 1) past = {400, {pick(1, 90), pick(1, 90)}};
    SCOPED_TRACE(::testing::Message() << "round " << round << ", " << modality.size() << " tokens");
    expect_lawful(compress(random_spec, modality, past), modality, random_spec);
  }
}

// Parts of any methods put together: either refused with a sentence, or as lawful as a preset.
TEST(RandomRecipes, AreLawfulOrRefused) {
  std::mt19937 random(41);
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); };
  std::vector<std::string> names;
  for (const Method* entry : method_registry()) {
    if (testing::composition_of(entry->name).scorer != nullptr) names.emplace_back(entry->name);
  }
  const auto any = [&] { return names[static_cast<std::size_t>(pick(0, std::ssize(names) - 1))]; };
  int legal = 0;
  int refused = 0;
  while (legal < 250) {
    RecipeSpec spec;
    spec.method = any();
    spec = test_support::as_measured(spec, kSuiteLayers, kSuiteKvHeads);
    if (pick(0, 1) == 1) spec.allocator = any();
    if (pick(0, 1) == 1) spec.scorer = any();
    if (pick(0, 1) == 1) spec.reducer = any();
    if (pick(0, 3) == 0) spec.scope = pick(0, 1) == 0 ? "all" : "visual";
    if (pick(0, 3) == 0) spec.granularity = pick(0, 1) == 0 ? "head" : "layer";
    spec.retention = static_cast<double>(pick(1, 999)) / 1000.0;
    spec.min_event_tokens = 0;
    spec.seed = static_cast<std::uint64_t>(legal);
    SCOPED_TRACE(::testing::Message() << spec.method << " + " << spec.allocator << " + " << spec.scorer << " + " << spec.reducer);
    try {
      Recipe::from_spec(spec);
    } catch (const Exception& refusal) {
      EXPECT_EQ(refusal.error().code, ErrorCode::kIllegalRecipe);
      EXPECT_FALSE(refusal.error().reason.empty());
      ASSERT_LT(++refused, 2000);
      continue;
    }
    ++legal;
    Modalities modality;
    for (std::int64_t i = pick(1, 120); i > 0; --i) modality.push_back(static_cast<Modality>(pick(1, 3)));
    Past past;
    if (pick(0, 2) == 0) past = {400, {60, 60}};
    expect_lawful(compress(spec, modality, past), modality, spec);
  }
  EXPECT_GT(refused, 20);
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Method* entry : method_registry()) {
    // Token pruning has no event; token_pruner_test.cpp is its suite.
    if (!testing::composition_of(entry->name).pruning) names.emplace_back(entry->name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(AllMethods, MethodSuite, ::testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  std::replace(name.begin(), name.end(), '+', 'P');
  return name;
});

}  // namespace
}  // namespace winnow
