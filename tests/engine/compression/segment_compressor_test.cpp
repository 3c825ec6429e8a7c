#include "engine/compression/segment_compressor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "engine/base/error.h"
#include "engine/compression/compression_event.h"
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/reducers/nearest_index.h"
#include "engine/recipes/scorers/position_scores.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/engine/compression/named_composition.h"
#include "tests/support/kv_shape.h"

namespace winnow {
namespace {

using testing::composition_of;
using testing::random_view;
using testing::segment_of;
using Budgets = std::vector<std::int64_t>;

const std::vector<Modality>& modality() {
  static const std::vector<Modality> modality = [] {
    std::vector<Modality> made(100, Modality::kVisual);
    for (std::size_t i = 90; i < 100; ++i) made[i] = Modality::kText;
    return made;
  }();
  return modality;
}

LayerView view_of(LayerId layer, double spread = 1.0) {
  LayerView view = random_view(layer, 4, 2, 100, 8, {}, spread);
  testing::set_log_sum_exp(view);
  return view;
}

// Weights that a test chooses, known only after the prefill like those of a real dynamic allocator.
class ChosenAllocator : public Allocator {
 public:
  explicit ChosenAllocator(std::vector<double> weights) : weights_(std::move(weights)) {}
  std::string name() const override { return "chosen"; }
  StatisticsNeeds needs() const override {
    StatisticsNeed need{.sparsity_p = 0.01};
    return {{need}, {}, {}};
  }
  LayerMeasure measure(const LayerStatistics& statistics, const SegmentInfo&) const override {
    return {weights_.at(static_cast<std::size_t>(statistics.layer))};
  }
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override {
    std::vector<double> weights;
    for (const LayerMeasure& layer : measured) weights.push_back(layer.at(0));
    return weights;
  }

 private:
  std::vector<double> weights_;
};

Composition chosen(std::vector<double> weights, double min_fraction = 0.0) {
  return {.method = "chosen",
          .allocator = std::make_unique<ChosenAllocator>(std::move(weights)),
          .scorer = std::make_unique<RecencyScorer>(),
          .min_fraction = min_fraction};
}

RecipeSpec share(double retention) { return {.method = "vl-cache", .retention = retention}; }

Budgets budgets_of(const Recipe& recipe) {
  SegmentCompressor compressor(recipe, segment_of(modality(), 3, 4, 2));
  for (LayerId layer{0}; layer < 3; ++layer) compressor.on_layer(view_of(layer));
  return compressor.budgets();
}

// The methods' allocator table for VL-Cache: n = 100, least share 0.01.
TEST(SegmentCompressor, AllocatesAsInTheTable) {
  EXPECT_EQ(budgets_of(Recipe::from_parts(share(0.25), chosen({0.60, 0.25, 0.10}, 0.01))), (Budgets{47, 20, 8}));
  EXPECT_EQ(budgets_of(Recipe::from_parts(share(0.60), chosen({0.60, 0.25, 0.10}, 0.01))), (Budgets{100, 57, 23}));
  EXPECT_EQ(budgets_of(Recipe::from_parts(share(0.10), chosen({0.80, 0.05, 0.001}, 0.01))), (Budgets{27, 2, 1}));
  // The least share binds at every request above it, as the papers clip: 10 of 100 for two layers, what is left of 60 for the first.
  EXPECT_EQ(budgets_of(Recipe::from_parts(share(0.20), chosen({0.80, 0.05, 0.001}, 0.1))), (Budgets{40, 10, 10}));
  Composition faithful = chosen({0.60, 0.25, 0.10}, 0.01);
  faithful.faithful_clip = true;
  EXPECT_EQ(budgets_of(Recipe::from_parts(share(0.60), std::move(faithful))), (Budgets{100, 47, 19}));
}

TEST(SegmentCompressor, TreatsNonFiniteWeightsAsZeroAndSaysSo) {
  const Recipe recipe = Recipe::from_parts(share(0.25), chosen({std::nan(""), 0.5, 0.5}));
  SegmentCompressor compressor(recipe, segment_of(modality(), 3, 4, 2));
  for (LayerId layer{0}; layer < 3; ++layer) compressor.on_layer(view_of(layer));
  EXPECT_EQ(compressor.budgets(), (Budgets{1, 37, 37}));
  EXPECT_EQ(compressor.notes().non_finite, 1);
}

TEST(SegmentCompressor, RanksNonFiniteScoresLast) {
  const Recipe recipe = Recipe::from_parts(share(0.5), composition_of("vl-cache"));
  SegmentCompressor compressor(recipe, segment_of(modality(), 1, 4, 2));
  LayerView view = view_of(LayerId(0));
  view.key[0][3].fill_(std::numeric_limits<float>::infinity());  // column 3 of kv head 0
  compressor.on_layer(view);
  EXPECT_GT(compressor.notes().non_finite, 0);
  const LayerPlan plan = compressor.plan(LayerId(0));
  EXPECT_FALSE(std::binary_search(plan.kept[0].begin(), plan.kept[0].end(), 3));
  EXPECT_EQ(plan.kept[0].size(), 50U);
  EXPECT_EQ(plan.kept[1].size(), 50U);
}

TEST(SegmentCompressor, StaticPlansAreReadyLayerByLayer) {
  const Recipe recipe = Recipe::from_parts(share(0.5), composition_of("snapkv"));
  SegmentCompressor compressor(recipe, segment_of(modality(), 2, 4, 2));
  EXPECT_TRUE(compressor.wants_views());
  EXPECT_FALSE(compressor.plan_ready(LayerId(0)));
  EXPECT_EQ(compressor.budgets(), (Budgets{50, 50}));
  compressor.on_layer(view_of(LayerId(0)));
  EXPECT_TRUE(compressor.plan_ready(LayerId(0)));
  EXPECT_FALSE(compressor.plan_ready(LayerId(1)));
  EXPECT_GT(compressor.statistics_ms(), 0.0);
}

TEST(SegmentCompressor, DynamicPlansWaitForTheLastLayer) {
  const Recipe recipe = Recipe::from_spec(share(0.5));
  SegmentCompressor compressor(recipe, segment_of(modality(), 2, 4, 2));
  compressor.on_layer(view_of(LayerId(0)));
  EXPECT_FALSE(compressor.plan_ready(LayerId(0)));
  EXPECT_THROW(compressor.budgets(), Exception);
  EXPECT_THROW(compressor.plan(LayerId(0)), Exception);
  compressor.on_layer(view_of(LayerId(1), 6.0));
  EXPECT_TRUE(compressor.plan_ready(LayerId(0)));
  // Larger logits make a sparser layer, which gets less.
  EXPECT_GT(compressor.budgets()[0], compressor.budgets()[1]);
  EXPECT_THROW(compressor.on_layer(view_of(LayerId(1))), Exception);  // each layer once
}

// The eight-token fixture, whose last token is the answer's first: scores and plan are those of all eight rows.
TEST(SegmentCompressor, TheFirstAnswerTokenJoinsTheScores) {
  const LayerView all = testing::att8_view();
  LayerView prompt = all;
  for (at::Tensor* tensor : {&prompt.query, &prompt.key, &prompt.value, &prompt.log_sum_exp}) *tensor = tensor->narrow(1, 0, 7);
  DecodeRow row;
  at::Tensor attention = at::zeros({8}, at::kDouble);
  for (const at::Tensor& logits : testing::dense_logits(all)) attention += at::softmax(logits[7], 0) / 2.0;
  row.probabilities.resize(1);
  for (std::int64_t slot = 0; slot < 8; ++slot) row.probabilities.front().push_back(attention[slot].item<float>());
  const std::vector<Modality> seven(testing::att8_modality().begin(), testing::att8_modality().end() - 1);

  for (const std::string method : {"d2o", "meda"}) {
    RecipeSpec four{.budget_tokens = 4, .min_event_tokens = 0};
    const Recipe waiting = Recipe::from_parts(four, composition_of(method, {{"event_at_first_decode", "true"}}));
    SegmentCompressor compressor(waiting, segment_of(seven, 1, 2, 1));
    compressor.on_layer(prompt);
    EXPECT_FALSE(compressor.plan_ready(LayerId(0))) << method;
    compressor.add_first_token();
    EXPECT_FALSE(compressor.plan_ready(LayerId(0))) << method;
    compressor.on_first_token(LayerId(0), row);
    ASSERT_TRUE(compressor.plan_ready(LayerId(0))) << method;

    const Recipe at_once = Recipe::from_parts(four, composition_of(method));
    SegmentCompressor reference(at_once, segment_of(testing::att8_modality(), 1, 2, 1));
    reference.on_layer(all);
    ASSERT_EQ(compressor.scores(LayerId(0), KvHead(0)).size(), 8U) << method;
    for (std::size_t j = 0; j < 8; ++j)
      EXPECT_NEAR(compressor.scores(LayerId(0), KvHead(0))[j], reference.scores(LayerId(0), KvHead(0))[j], 1e-5) << method << " " << j;
    EXPECT_EQ(compressor.plan(LayerId(0)).kept, reference.plan(LayerId(0)).kept) << method;
    EXPECT_EQ(compressor.plan(LayerId(0)).kept.front().back(), 7) << method << ": the newest token stays";

    // Without it the event is about the prompt alone.
    SegmentCompressor alone(waiting, segment_of(seven, 1, 2, 1));
    alone.on_layer(prompt);
    alone.without_first_token();
    EXPECT_EQ(alone.plan(LayerId(0)).kept.front().back(), 6) << method;
  }
}

// Slots of an earlier turn are before the segment: they get their part of the row, and the segment's part is found behind them.
TEST(SegmentCompressor, TheFirstAnswerTokenIsSeenByEarlierSlotsToo) {
  LayerView view = random_view(LayerId(0), 4, 2, 40, 8, {3, 5});
  testing::set_log_sum_exp(view);
  RecipeSpec ten;
  ten.budget_tokens = 10;
  ten.turn_policy = TurnPolicy::kFirstOnly;  // an absolute budget would have everything compete again
  const Recipe recipe = Recipe::from_parts(ten, composition_of("d2o", {{"event_at_first_decode", "true"}}));
  const std::vector<Modality> visual(40, Modality::kVisual);
  SegmentCompressor compressor(recipe, segment_of(visual, 1, 4, 2, 20));
  compressor.on_layer(view);
  const AccumulatedAttention before = compressor.accumulated(LayerId(0), KvHead(1));
  const std::vector<float> sums(before.sums.begin(), before.sums.end());
  const std::vector<float> past(before.past_sums.begin(), before.past_sums.end());
  DecodeRow row{.probabilities = {std::vector<float>(3 + 41, 0.0F), std::vector<float>(5 + 41, 0.0F)}};
  row.probabilities[1][4] = 0.25F;    // the last earlier slot
  row.probabilities[1][5] = 0.5F;     // the segment's first
  row.probabilities[1][45] = 0.125F;  // itself
  compressor.add_first_token();
  compressor.on_first_token(LayerId(0), row);
  const AccumulatedAttention after = compressor.accumulated(LayerId(0), KvHead(1));
  ASSERT_EQ(after.sums.size(), 41U);
  EXPECT_FLOAT_EQ(after.sums[0], sums[0] + 0.5F);
  EXPECT_FLOAT_EQ(after.sums[39], sums[39]);
  EXPECT_FLOAT_EQ(after.sums[40], 0.125F);
  ASSERT_EQ(after.past_sums.size(), 5U);
  EXPECT_FLOAT_EQ(after.past_sums[4], past[4] + 0.25F);
  EXPECT_FLOAT_EQ(after.past_sums[0], past[0]);
}

TEST(SegmentCompressor, PositionMethodsNeedNoViews) {
  const Recipe recipe = Recipe::from_parts(share(0.5), composition_of("streaming-llm"));
  SegmentCompressor compressor(recipe, segment_of(modality(), 2, 4, 2));
  EXPECT_FALSE(compressor.wants_views());
  EXPECT_TRUE(compressor.plan_ready(LayerId(1)));
  const std::vector<std::int32_t> kept = compressor.plan(LayerId(1)).kept[1];
  EXPECT_EQ((std::vector<std::int32_t>{kept.begin(), kept.begin() + 5}), (std::vector<std::int32_t>{0, 1, 2, 3, 54}));
}

TEST(SegmentCompressor, SinksBelongToTheStartOfTheConversation) {
  const Recipe recipe = Recipe::from_parts(share(0.5), composition_of("streaming-llm"));
  const auto first_kept = [&](std::int32_t first_original) {
    return SegmentCompressor(recipe, segment_of(modality(), 1, 4, 2, first_original)).plan(LayerId(0)).kept[0].front();
  };
  EXPECT_EQ(first_kept(0), 0);
  EXPECT_EQ(first_kept(2), 0);     // rows 0 and 1 are tokens 2 and 3
  EXPECT_EQ(first_kept(500), 50);  // a plain window
}

// n = 8 keeps 4, three tokens are generated, n = 4 keeps 2 more: 4 + 3 + 2 = 9.
TEST(SegmentCompressor, FollowsTheTurnRuleForSegments) {
  KvCache cache(test_support::kv_shape(1, 1, 4));
  Composition recency{.allocator = std::make_unique<UniformAllocator>(), .scorer = std::make_unique<RecencyScorer>()};
  const Recipe recipe = Recipe::from_parts(share(0.5), std::move(recency));
  std::int32_t next = 0;
  const auto append = [&](std::int64_t count) {
    std::vector<std::int32_t> original(static_cast<std::size_t>(count));
    std::iota(original.begin(), original.end(), next);
    cache.append(LayerId(0), at::zeros({1, count, 4}), at::zeros({1, count, 4}), original);
    next += static_cast<std::int32_t>(count);
  };
  for (const std::int64_t n : {8, 4}) {
    const std::vector<Modality> images(static_cast<std::size_t>(n), Modality::kVisual);
    const std::int32_t first = next;
    append(n);
    SegmentCompressor compressor(recipe, segment_of(images, 1, 1, 1, first));
    cache.compact(LayerId(0), n, compressor.plan(LayerId(0)));
    if (n == 8) {
      EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 4);
      append(3);
    }
  }
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 9);
}

// Eight tokens keep their last four, the first four of which join token 4 (the last token takes in nobody); after three generated tokens
// four more keep two, and both that leave join token 13.
TEST(ApplyPlan, RemembersWhoTookOthersInOverSegments) {
  KvCache cache(test_support::kv_shape(1, 2, 4));
  Composition recency;
  recency.allocator = std::make_unique<UniformAllocator>();
  recency.scorer = std::make_unique<RecencyScorer>();
  recency.reducer = std::make_shared<NearestIndexReducer>();
  const Recipe recipe = Recipe::from_parts(share(0.5), std::move(recency));
  MergeState state;
  std::int32_t next = 0;
  const auto append = [&](std::int64_t count) {
    std::vector<std::int32_t> original(static_cast<std::size_t>(count));
    std::iota(original.begin(), original.end(), next);
    cache.append(LayerId(0), at::zeros({2, count, 4}), at::zeros({2, count, 4}), original);
    next += static_cast<std::int32_t>(count);
  };
  const auto event = [&](std::int64_t n) {
    const std::vector<Modality> images(static_cast<std::size_t>(n), Modality::kVisual);
    const std::int32_t first = next;
    append(n);
    return apply_plan(cache, SegmentCompressor(recipe, segment_of(images, 1, 2, 2, first)), LayerId(0), state);
  };
  using Counts = std::vector<std::vector<std::int32_t>>;
  EXPECT_EQ(event(8), (Counts{{4, 0, 0, 0}, {4, 0, 0, 0}}));
  append(3);
  EXPECT_EQ(event(4), (Counts{{2, 0}, {2, 0}}));
  const std::vector<MergedInto> expected = {{4, 4}, {13, 2}};
  EXPECT_EQ(state.merged, (std::vector<std::vector<MergedInto>>{expected, expected}));
}

TEST(ApplyPlan, RemembersNothingWhereNothingMerges) {
  KvCache cache(test_support::kv_shape(1, 1, 4));
  Composition recency{.allocator = std::make_unique<UniformAllocator>(), .scorer = std::make_unique<RecencyScorer>()};
  const Recipe recipe = Recipe::from_parts(share(0.5), std::move(recency));
  const std::vector<Modality> images(8, Modality::kVisual);
  cache.append(LayerId(0), at::zeros({1, 8, 4}), at::zeros({1, 8, 4}), std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  MergeState state;
  EXPECT_TRUE(apply_plan(cache, SegmentCompressor(recipe, segment_of(images, 1, 1, 1, 0)), LayerId(0), state).empty());
  EXPECT_TRUE(state.merged.empty());
}

// Two layers of two heads over four visual rows between text.
std::vector<std::vector<std::int32_t>> kept_of_votes(const RecipeSpec& spec) {
  using enum Modality;
  const std::vector<Modality> modality = {kSystem, kVisual, kVisual, kVisual, kVisual};
  const std::vector<std::vector<float>> votes = {{0.0F, 0.9F, 0.5F, 0.1F, 0.3F, 0.0F, 0.2F, 0.2F, 0.6F, 0.05F},
                                                 {0.0F, 0.4F, 0.8F, 0.7F, 0.1F, 0.0F, 0.05F, 0.02F, 0.03F, 0.9F}};
  const Recipe recipe = Recipe::from_spec(spec);
  SegmentCompressor compressor(recipe, testing::segment_of(modality, 2, 4, 2));
  EXPECT_TRUE(compressor.will_compress());
  if (recipe.needs().probe) {
    for (LayerId layer{0}; layer < 2; ++layer) compressor.on_probe(layer, {2, 5, votes[static_cast<std::size_t>(layer)]});
    EXPECT_EQ(compressor.best_scores(LayerId(0)), (std::vector<double>{0.9F, 0.6F}));
    EXPECT_EQ(compressor.best_scores(LayerId(1)), (std::vector<double>{0.8F, 0.9F}));
  }
  std::vector<std::vector<std::int32_t>> kept;
  for (LayerId layer{0}; layer < 2; ++layer) {
    for (std::vector<std::int32_t> head : compressor.plan(layer).kept) {
      EXPECT_EQ(head.front(), 0) << "what is before the media stays";
      head.erase(head.begin());
      for (std::int32_t& row : head) --row;
      kept.push_back(std::move(head));
    }
  }
  return kept;
}

TEST(SegmentCompressor, HeadsOfALayerOrOfAllCompete) {
  using Heads = std::vector<std::vector<std::int32_t>>;
  RecipeSpec spec{.method = "kvzip", .retention = 0.5};
  EXPECT_EQ(kept_of_votes(spec), (Heads{{0, 1, 3}, {2}, {0, 1, 2}, {3}}));
  spec.options["compete"] = "all";
  EXPECT_EQ(kept_of_votes(spec), (Heads{{0, 1, 3}, {2}, {0, 1, 2}, {3}}));
  spec.retention = 0.25;
  EXPECT_EQ(kept_of_votes(spec), (Heads{{0}, {}, {1, 2}, {3}}));
}

TEST(SegmentCompressor, WholeHeadsKeepEverythingOrNothing) {
  using Heads = std::vector<std::vector<std::int32_t>>;
  const std::vector<std::int32_t> all = {0, 1, 2, 3};
  RecipeSpec measured;
  measured.method = "kvzip-head";
  measured.options["head_scores"] = "0.9:0.6/0.8:0.9";
  measured.retention = 0.5;
  EXPECT_EQ(kept_of_votes(measured), (Heads{all, {}, {}, all}));
  RecipeSpec probed{.method = "kvzip", .retention = 0.5, .allocator = "whole-heads"};
  EXPECT_EQ(kept_of_votes(probed), (Heads{all, {}, {}, all})) << "by each head's best slot";
}

TEST(SegmentCompressor, HeadScoresOfAnotherModelAreRefused) {
  RecipeSpec spec;
  spec.method = "kvzip-head";
  spec.options["head_scores"] = "0.9:0.6:0.3/0.8:0.9:0.1";
  spec.retention = 0.5;
  try {
    kept_of_votes(spec);
    FAIL() << "nothing was refused";
  } catch (const Exception& refusal) {
    EXPECT_EQ(refusal.error().subject, "head_scores");
    EXPECT_EQ(refusal.error().reason, "these are 2 layers of 3 heads; this model has 2 of 2");
  }
}

// Ten tokens, of which the second layer, which looks back over seven, still sees the last six.
struct TwoLayersOneWindow {
  TwoLayersOneWindow(const std::string& method, double retention, const std::map<std::string, std::string>& options = {})
      : spec(share(retention)) {
    spec.method = method;
    spec.options = options;
    segment.windows = &windows;
  }
  // Per layer and head, with so many tokens behind them.
  std::vector<Budgets> foreseen(std::int64_t more) {
    const Recipe recipe = Recipe::from_spec(spec);
    return SegmentCompressor(recipe, segment).foreseen_slots(more).values();
  }
  // Of all heads, where these votes judge.
  std::int64_t seen(std::int64_t more, const std::function<float()>& vote_before, const std::function<float()>& vote_late) {
    const Recipe recipe = Recipe::from_spec(spec);
    SegmentCompressor compressor(recipe, segment);
    SegmentInfo later = segment;
    later.tokens += more;
    const auto late = [&](LayerId layer, std::int32_t row) {
      return row >= compressor.candidates(layer, KvHead(0)).info.rows_before(later.first_seen(layer));
    };
    for (LayerId layer{0}; layer < 2; ++layer) {
      const std::int64_t rows = compressor.candidates(layer, KvHead(0)).info.tokens;
      HeadScores votes{2, rows, {}};
      for (std::int32_t i = 0; i < 2 * rows; ++i)
        votes.values.push_back(late(layer, i % static_cast<std::int32_t>(rows)) ? vote_late() : vote_before());
      compressor.on_probe(layer, std::move(votes));
    }
    std::int64_t count = 0;
    for (LayerId layer{0}; layer < 2; ++layer) {
      for (const std::vector<std::int32_t>& head : compressor.plan(layer).kept)
        count += std::ranges::count_if(head, [&](std::int32_t row) { return late(layer, row); });
    }
    return count;
  }

  RecipeSpec spec;
  const std::vector<Modality> modality = [] {
    std::vector<Modality> made(10, Modality::kVisual);
    made.front() = Modality::kSystem;
    return made;
  }();
  const PerLayer<std::int64_t> windows{{0, 7}};
  SegmentInfo segment = segment_of(modality, 2, 4, 2);
};

std::int64_t sum_of(const std::vector<Budgets>& slots) {
  std::int64_t sum = 0;
  for (const Budgets& layer : slots) sum = std::accumulate(layer.begin(), layer.end(), sum);
  return sum;
}

// Half of 9 and of 6 are 5 and 3, the system token stays; of rows 4 to 9 a window passes by the first when more is read.
TEST(SegmentCompressor, TheMostThatAWindowLeavesIsForeseen) {
  TwoLayersOneWindow judged("keydiff", 0.5);
  EXPECT_EQ(judged.foreseen(2), (std::vector<Budgets>{{6, 6}, {3, 3}}));
  EXPECT_EQ(judged.foreseen(4), (std::vector<Budgets>{{6, 6}, {2, 2}})) << "two rows are left";
  EXPECT_EQ(judged.foreseen(20), (std::vector<Budgets>{{6, 6}, {0, 0}}));
  const std::vector<std::int32_t> pinned = {4, 5};
  judged.segment.pinned = pinned;
  EXPECT_EQ(judged.foreseen(4), (std::vector<Budgets>{{6, 6}, {1, 1}})) << "pins that are passed by had two of three slots";
  EXPECT_EQ(TwoLayersOneWindow("keydiff", 1.0).foreseen(4), (std::vector<Budgets>{{10, 10}, {2, 2}}));

  TwoLayersOneWindow layer("kvzip", 0.5);  // 6 pairs in the second layer
  EXPECT_EQ(layer.foreseen(4).back(), (Budgets{2, 2}));
  EXPECT_EQ(sum_of({layer.foreseen(2).back()}), 6);
  TwoLayersOneWindow all("kvzip", 0.5, {{"compete", "all"}});
  EXPECT_EQ(sum_of(all.foreseen(20)), 2 + 15) << "all of them may be of the first layer";
  all.spec.retention = 0.8;
  EXPECT_EQ(sum_of(all.foreseen(4)), 2 + 18 + 4) << "24 pairs, of which two rows of either head of the second layer are left";
  EXPECT_EQ(sum_of(all.foreseen(20)), 2 + 18);
}

TEST(SegmentCompressor, WhatIsChosenWithoutLookingIsForeseenAsItIs) {
  TwoLayersOneWindow spaced("every-k", 0.5);  // rows 4, 6 and 8
  EXPECT_EQ(spaced.foreseen(2).back(), (Budgets{2, 2}));
  EXPECT_EQ(spaced.foreseen(4).back(), (Budgets{1, 1}));
}

TEST(SegmentCompressor, WhatAWindowLeavesIsNeverMoreAndCanBeAsMuch) {
  std::mt19937 random(7);
  const auto any = [&] { return static_cast<float>(random() % 1000) / 1000.0F; };
  const auto nothing = [] { return 0.0F; };
  for (const std::string compete : {"nobody", "layer", "all"}) {
    for (const double retention : {0.2, 0.5, 0.8}) {
      TwoLayersOneWindow case_of("kvzip", retention, {{"compete", compete}, {"floor", "0.3"}});
      for (const std::int64_t more : {1, 3, 5, 9}) {
        SCOPED_TRACE(compete + " " + std::to_string(retention) + " behind " + std::to_string(more));
        const std::int64_t most = sum_of(case_of.foreseen(more));
        EXPECT_EQ(case_of.seen(more, nothing, [] { return 1.0F; }), most);
        for (int draw = 0; draw < 20; ++draw) EXPECT_LE(case_of.seen(more, any, any), most);
      }
    }
  }
}

TEST(SegmentCompressor, NotesWhatALogShouldSay) {
  const Recipe recipe = Recipe::from_spec(share(0.5));
  const std::vector<Modality> text(300, Modality::kText);
  EXPECT_TRUE(SegmentCompressor(recipe, segment_of(text, 2, 4, 2)).notes().fallback_rows);
  const Recipe tight = Recipe::from_parts(share(0.01), composition_of("snapkv"));
  const SegmentCompressor raised(tight, segment_of(text, 2, 4, 2));
  EXPECT_TRUE(raised.notes().raised_to_floor);
  EXPECT_EQ(raised.budgets(), (Budgets{33, 33}));
}

TEST(SegmentCompressor, RefusesAModalityMapOfAnotherLength) {
  const Recipe recipe = Recipe::from_spec({});
  SegmentInfo segment = segment_of(modality(), 2, 4, 2);
  segment.tokens = 99;
  EXPECT_THROW(SegmentCompressor(recipe, segment), Exception);
}

}  // namespace
}  // namespace winnow
