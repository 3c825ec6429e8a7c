// Merging on the methods' tables (one kv head, d = 2): every number was computed twice in double precision, outside this program.
#include "engine/compression/reducers/merge.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "engine/recipes/random_hash.h"
#include "engine/recipes/reducers/gated.h"
#include "engine/recipes/reducers/joining.h"
#include "engine/recipes/reducers/nearest_index.h"
#include "engine/recipes/reducers/value_push.h"
#include "engine/recipes/select.h"

namespace winnow {
namespace {

using Rows = std::vector<std::int32_t>;

constexpr double kMergeTolerance = 1e-5;

at::Tensor pairs(const std::vector<double>& numbers) {
  return at::tensor(numbers).to(at::kFloat).view({static_cast<std::int64_t>(numbers.size()) / 2, 2});
}

void expect_rows(const at::Tensor& actual, const std::vector<double>& expected) {
  const at::Tensor flat = actual.contiguous().view({-1});
  ASSERT_EQ(flat.size(0), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(flat.const_data_ptr<float>()[i], expected[i], kMergeTolerance) << "number " << i;
  }
}

// Rows 0 .. 2 are kept, rows 3 .. 6 leave.
class Merge : public ::testing::Test {
 protected:
  std::vector<MergePair> nearest_to() const {
    const LeavingRows head{keys_, kept_, leaving_};
    return nearest_by_cosine({&head, 1}).front();
  }

  MergedSlots merged(const Reducer& reducer, double threshold = 0.0) const {
    EXPECT_TRUE(reducer.needs_similarity());
    const std::vector<MergePair> nearest = nearest_to();
    const SegmentInfo candidates;
    return carry_out(reducer.at_event({.candidates = candidates,
                                       .kept = kept_,
                                       .leaving = leaving_,
                                       .nearest = nearest,
                                       .attention = {},
                                       .threshold = threshold,
                                       .layer = LayerId(0),
                                       .kv_head = KvHead(0)}),
                     keys_, values_, kept_);
  }

  at::Tensor keys_ = pairs({1, 0, 0, 2, 1, 1, 2, 0.5, 0.2, 1, 1, 0.7, -1, 0.4});
  at::Tensor values_ = pairs({1, 0, 0, 1, 2, 2, 1, 1, 3, 0, 0, 2, 1, -1});
  Rows kept_ = {0, 1, 2};
  Rows leaving_ = {3, 4, 5, 6};
};

TEST_F(Merge, NearestKeptByCosine) {
  const std::vector<MergePair> nearest = nearest_to();
  ASSERT_EQ(nearest.size(), 4U);
  const Rows targets = {0, 1, 2, 1};
  const std::vector<double> expected = {0.970143, 0.980581, 0.984784, 0.371391};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(nearest[i].row, leaving_[i]);
    EXPECT_EQ(nearest[i].into, targets[i]);
    EXPECT_NEAR(nearest[i].cosine, expected[i], kMergeTolerance);
  }
  EXPECT_NEAR(mean_cosine(nearest), 0.826724, kMergeTolerance);
}

TEST_F(Merge, Average) {
  const MergedSlots found = merged(AverageReducer());
  expect_rows(found.keys, {1.5, 0.25, -0.266667, 1.133333, 1.0, 0.85});
  expect_rows(found.values, {1.0, 0.5, 1.333333, 0.0, 1.0, 2.0});
  EXPECT_EQ(found.merged, (Rows{1, 2, 1}));
}

TEST_F(Merge, AverageOfTheMostSimilarShare) {
  const MergedSlots found = merged(AverageReducer(0.5));  // rows 5 (0.984784) and 4 (0.980581)
  EXPECT_EQ(found.merged, (Rows{0, 1, 1}));
  expect_rows(found.keys, {1, 0, 0.1, 1.5, 1.0, 0.85});
}

TEST_F(Merge, Pivot) {
  const MergedSlots found = merged(PivotReducer());
  EXPECT_EQ(found.merged, (Rows{1, 2, 1}));
  expect_rows(found.keys, {1.25, 0.125, -0.133333, 1.566667, 1.0, 0.925});
  expect_rows(found.values, {1.0, 0.25, 0.666667, 0.5, 1.5, 2.0});
}

TEST_F(Merge, Weighted) {
  const MergedSlots found = merged(WeightedReducer());
  EXPECT_EQ(found.merged, (Rows{1, 2, 1}));
  expect_rows(found.keys, {1.470143, 0.242536, -0.058425, 1.043046, 0.992392, 0.844674});
  expect_rows(found.values, {0.985071, 0.485071, 1.104378, 0.209536, 1.0, 1.984784});
}

TEST_F(Merge, WeightedWithAGateAtTheMean) {
  const MergedSlots found = merged(WeightedReducer(true));
  EXPECT_EQ(found.merged, (Rows{1, 1, 1}));
  expect_rows(found.keys, {1.470143, 0.242536, 0.098058, 1.490290, 0.992392, 0.844674});
  expect_rows(found.values, {0.985071, 0.485071, 1.470871, 0.5, 1.0, 1.984784});
}

TEST_F(Merge, GatedWithExponentialWeights) {
  const MergedSlots found = merged(GatedReducer(), 0.826724);
  EXPECT_EQ(found.merged, (Rows{1, 1, 1}));
  expect_rows(found.keys, {1.492536, 0.246268, 0.099029, 1.504855, 1.0, 0.851141});
  expect_rows(found.values, {1.0, 0.492536, 1.485436, 0.504855, 1.007608, 2.0});
}

TEST_F(Merge, GatedWithTheCodesWeights) {
  const GatedReducer as_code(0.7, GatedReducer::ThresholdScope::kHead, GatedReducer::Weights::kCosine);
  expect_rows(merged(as_code, 0.826724).keys, {1.470143, 0.242536, 0.098058, 1.490290, 0.992392, 0.844674});
}

TEST(MergeThreshold, MovesTowardsTheCurrentMean) {
  const GatedReducer per_head(0.7, GatedReducer::ThresholdScope::kHead);
  const auto next = [&](double previous, double mean) { return per_head.next_threshold(previous, mean, 0.0).value(); };
  EXPECT_NEAR(next(std::numeric_limits<double>::quiet_NaN(), 0.826724), 0.826724, kMergeTolerance);
  EXPECT_NEAR(next(0.826724, 0.983860), 0.936719, kMergeTolerance);
  EXPECT_NEAR(next(0.936719, 0.863131), 0.885207, kMergeTolerance);
  const GatedReducer per_layer(0.7, GatedReducer::ThresholdScope::kLayer);
  EXPECT_NEAR(per_layer.next_threshold(0.936719, 0.0, 0.863131).value(), 0.885207, kMergeTolerance);
  EXPECT_FALSE(AverageReducer().next_threshold(0.5, 0.5, 0.5).has_value());
}

Rows targets(const std::vector<MergePair>& pairs) {
  Rows into;
  for (const MergePair& pair : pairs) into.push_back(pair.into);
  return into;
}

TEST(NearestIndex, ChoosesTheCloserAnchorAndTheSmallerOnTies) {
  // Anchors 1, 3, 6 of the kept set 0, 1, 3, 6, 7: the first and the last slot are none.
  const Rows kept = {0, 1, 3, 6, 7};
  const Rows leaving = {2, 4, 5};
  SegmentInfo candidates{.tokens = 8};
  EXPECT_EQ(targets(nearest_by_index(candidates, leaving, Rows{1, 3, 6})), (Rows{1, 3, 6}));  // 2 -> 1 (tie with 3), 4 -> 3, 5 -> 6
  const at::Tensor rows = at::arange(8, at::kFloat).unsqueeze(1);
  const Merging merging = NearestIndexReducer(1).at_event({.candidates = candidates,
                                                           .kept = kept,
                                                           .leaving = leaving,
                                                           .nearest = {},
                                                           .attention = {},
                                                           .threshold = 0.0,
                                                           .layer = LayerId(0),
                                                           .kv_head = KvHead(0)});
  const MergedSlots found = carry_out(merging, rows, rows, kept);
  expect_rows(found.keys, {0, 1.5, 3.5, 5.5, 7});
  EXPECT_EQ(found.merged, (Rows{0, 1, 1, 1, 0}));
  EXPECT_TRUE(nearest_by_index(candidates, Rows{1}, Rows{}).empty());
  // Token numbers count, not rows: 7 is nearer to 9 than to 3.
  const Rows originals = {3, 7, 9};
  candidates.tokens = 3;
  candidates.originals = originals;
  EXPECT_EQ(targets(nearest_by_index(candidates, Rows{1}, Rows{0, 2})), (Rows{2}));
}

// Values of one head after an event. original: token of row 0.
MergedSlots push_values(const ValuePushReducer::Options& options, const at::Tensor& keys, const at::Tensor& values, const Rows& kept,
                        const std::vector<float>& attention, std::int32_t original = 0, LayerId layer = {}, KvHead head = {}) {
  SegmentInfo candidates{.tokens = keys.size(0), .first_original = original};
  const Rows leaving = rows_outside(candidates.tokens, kept);
  return carry_out(ValuePushReducer(options).at_event({.candidates = candidates,
                                                       .kept = kept,
                                                       .leaving = leaving,
                                                       .nearest = {},
                                                       .attention = attention,
                                                       .threshold = 0.0,
                                                       .layer = layer,
                                                       .kv_head = head}),
                   keys, values, kept);
}

TEST(ValuePush, Probabilities) {
  const std::vector<float> window = {0.5F, 0.4F, 0.3F};
  ValuePushReducer::Options options;
  EXPECT_NEAR(ValuePushReducer(options).probability(0.30F, window), 0.75, kMergeTolerance);
  options.reference = ValuePushReducer::Reference::kMaximum;
  const ValuePushReducer against_largest(options);
  EXPECT_NEAR(against_largest.probability(0.30F, std::vector<float>{0.9F, 0.5F, 0.4F, 0.3F}), 0.333333, kMergeTolerance);
  EXPECT_EQ(against_largest.probability(0.0F, std::vector<float>{0.0F}), 0.0);
  EXPECT_EQ(against_largest.probability(0.1F, std::vector<float>{0.0F}), 1.0);
}

// Row 0 leaves; rows 1 .. 3 receive a third of its value each.
TEST(ValuePush, AddsToTheNextKeptValues) {
  ValuePushReducer::Options options{.window = 3};
  const at::Tensor values = pairs({0.6, -0.3, 1, 0, 0, 1, 2, 2});
  const at::Tensor keys = pairs({9, 9, 1, 1, 2, 2, 3, 3});
  const std::vector<float> attention = {0.3F, 0.5F, 0.4F, 0.3F};
  const Rows kept = {1, 2, 3};
  options.expected = true;
  const MergedSlots expected = push_values(options, keys, values, kept, attention, 40);
  expect_rows(expected.values, {1.15, -0.075, 0.15, 0.925, 2.15, 1.925});
  expect_rows(expected.keys, {1, 1, 2, 2, 3, 3});
  EXPECT_EQ(expected.merged, (Rows{1, 1, 1}));
  options.expected = false;
  // A draw under 0.75 pushes everything, one above nothing.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    options.seed = seed;
    const bool pushes = random_hash_uniform(seed, LayerId(2), KvHead(1), 40) < 0.75F;
    const MergedSlots drawn = push_values(options, keys, values, kept, attention, 40, LayerId(2), KvHead(1));
    expect_rows(drawn.values, pushes ? std::vector<double>{1.2, -0.1, 0.2, 0.9, 2.2, 1.9} : std::vector<double>{1, 0, 0, 1, 2, 2});
    EXPECT_EQ(drawn.merged, pushes ? (Rows{1, 1, 1}) : (Rows{0, 0, 0}));
  }
}

// The slot before the leaving one receives nothing, but its 0.9 is the largest that stays: 0.3 / 0.9 of (0.6, -0.3), a third each.
TEST(ValuePush, MaximumIsOverAllThatStays) {
  ValuePushReducer::Options options{.window = 3, .expected = true, .reference = ValuePushReducer::Reference::kMaximum};
  const at::Tensor values = pairs({5, 5, 0.6, -0.3, 1, 0, 0, 1, 2, 2});
  const std::vector<float> attention = {0.9F, 0.3F, 0.5F, 0.4F, 0.3F};
  const MergedSlots pushed = push_values(options, values, values, Rows{0, 2, 3, 4}, attention);
  expect_rows(pushed.values, {5, 5, 1.066667, -0.033333, 0.066667, 0.966667, 2.066667, 1.966667});
}

// Rows 1, 2 and 4 leave, one after the other, each into the two rows that follow it, whether those stay or leave later:
// 1 hands on half of 1 (1 against a mean of 2): 0.25 each to 2 and 3; 2, by then 2.25, all of it (2 against 1.5): 1.125 each to 3 and 4;
// 4, by then 5.125, a third (1 against 3) to 5 alone.
TEST(ValuePush, LeavingRowsTakeTurnsAndHandOnWhatTheyWereGiven) {
  ValuePushReducer::Options options{.window = 2, .expected = true};
  const at::Tensor values = at::tensor(std::vector<float>{10, 1, 2, 3, 4, 5}).unsqueeze(1);
  const at::Tensor keys = at::arange(6, at::kFloat).unsqueeze(1);
  const std::vector<float> attention = {9, 1, 2, 2, 1, 3};
  const MergedSlots expected = push_values(options, keys, values, Rows{0, 3, 5}, attention);
  expect_rows(expected.values, {10, 4.375, 6.708333});
  expect_rows(expected.keys, {0, 3, 5});
  EXPECT_EQ(expected.merged, (Rows{0, 2, 1}));
  expect_rows(values, {10, 1, 2, 3, 4, 5});  // what came in is not touched

  options.expected = false;
  std::set<std::pair<bool, bool>> met;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    options.seed = seed;
    const bool first = random_hash_uniform(seed, LayerId(3), KvHead(1), 1) < 0.5F;
    const bool last = random_hash_uniform(seed, LayerId(3), KvHead(1), 4) < 1.0F / 3.0F;
    met.emplace(first, last);
    const double third = first ? 3 + 0.5 + 1.25 : 3 + 1;
    const double fourth = first ? 4 + 1.25 : 4 + 1;
    expect_rows(push_values(options, keys, values, Rows{0, 3, 5}, attention, 0, LayerId(3), KvHead(1)).values,
                {10, third, last ? 5 + fourth : 5});
  }
  EXPECT_EQ(met.size(), 4U);
}

TEST(ValuePush, TheLastRowHasNobodyToHandItsValueTo) {
  ValuePushReducer::Options options{.expected = true};
  const at::Tensor values = pairs({1, 2, 3, 4, 5, 6});
  const MergedSlots pushed = push_values(options, values, values, Rows{0, 1}, {1, 1, 1});
  expect_rows(pushed.values, {1, 2, 3, 4});
}

// 320 values of 1 leave a gap before 16 that stay, each handing on half: a leaving value tends to x = 1 + x / 2 = 2, so that the k-th of
// the 16 ends at 1 + (17 - k) * (2 / 2) / 16, on average 1.53. Pushed into the 16 behind the gap, each would grow to 1 + 320 * 0.5 / 16
// = 11.
TEST(ValuePush, AWideGapDoesNotPileUpBehindItself) {
  constexpr std::size_t kSinks = 4, kGap = 320, kWindow = 16, kAll = kSinks + kGap + kWindow;
  ValuePushReducer::Options options{.expected = true};
  std::vector<float> attention(kAll, 1.0F);
  for (std::size_t row = kSinks + kGap; row-- > kSinks;) {  // half of the following 16's mean
    attention[row] = 0.5F * std::accumulate(attention.begin() + row + 1, attention.begin() + row + 1 + kWindow, 0.0F) / kWindow;
  }
  Rows kept = {0, 1, 2, 3};
  std::vector<double> wanted(kSinks, 1.0);
  for (std::size_t k = 1; k <= kWindow; ++k) {
    kept.push_back(static_cast<std::int32_t>(kSinks + kGap + k - 1));
    wanted.push_back(1.0 + static_cast<double>(kWindow + 1 - k) / kWindow);
  }
  const at::Tensor ones = at::ones({static_cast<std::int64_t>(kAll), 1});
  const MergedSlots pushed = push_values(options, ones, ones, kept, attention);
  expect_rows(pushed.values, wanted);
  EXPECT_NEAR(pushed.values.narrow(0, kSinks, kWindow).mean().item<double>(), 1.53125, kMergeTolerance);
}

}  // namespace
}  // namespace winnow
