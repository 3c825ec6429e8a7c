// Merging on the methods' tables (one kv head, d = 2): every number was computed twice in double precision, outside this program.
#include "engine/compression/reducers/merge.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "engine/compression/compression_event.h"
#include "engine/recipes/random_hash.h"

namespace winnow {
namespace {

using Kind = Reduction::Kind;
using Rows = std::vector<std::int32_t>;

constexpr double kTolerance = 1e-5;

at::Tensor pairs(const std::vector<double>& numbers) {
  return at::tensor(numbers).to(at::kFloat).view({static_cast<std::int64_t>(numbers.size()) / 2, 2});
}

void expect_rows(const at::Tensor& actual, const std::vector<double>& expected) {
  const at::Tensor flat = actual.contiguous().view({-1});
  ASSERT_EQ(flat.size(0), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(flat.const_data_ptr<float>()[i], expected[i], kTolerance) << "number " << i;
  }
}

// Rows 0 .. 2 are kept, rows 3 .. 6 leave.
class Merge : public ::testing::Test {
 protected:
  MergedSlots merged(Reduction reduction, double threshold = 0.0) const {
    return merge_into_targets(reduction, keys_, values_, kept_, nearest_by_cosine(keys_, kept_), threshold);
  }
  static Reduction kind(Kind kind) {
    Reduction reduction;
    reduction.kind = kind;
    return reduction;
  }

  at::Tensor keys_ = pairs({1, 0, 0, 2, 1, 1, 2, 0.5, 0.2, 1, 1, 0.7, -1, 0.4});
  at::Tensor values_ = pairs({1, 0, 0, 1, 2, 2, 1, 1, 3, 0, 0, 2, 1, -1});
  Rows kept_ = {0, 1, 2};
};

TEST_F(Merge, NearestKeptByCosine) {
  const NearestKept nearest = nearest_by_cosine(keys_, kept_);
  EXPECT_EQ(nearest.leaving, (Rows{3, 4, 5, 6}));
  EXPECT_EQ(nearest.target, (Rows{0, 1, 2, 1}));
  const std::vector<double> expected = {0.970143, 0.980581, 0.984784, 0.371391};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(nearest.cosine[i], expected[i], kTolerance);
  EXPECT_NEAR(nearest.mean_cosine(), 0.826724, kTolerance);
}

TEST_F(Merge, Average) {
  const MergedSlots found = merged(kind(Kind::kAverage));
  expect_rows(found.keys, {1.5, 0.25, -0.266667, 1.133333, 1.0, 0.85});
  expect_rows(found.values, {1.0, 0.5, 1.333333, 0.0, 1.0, 2.0});
  EXPECT_EQ(found.merged, (Rows{1, 2, 1}));
}

TEST_F(Merge, AverageOfTheMostSimilarShare) {
  Reduction half = kind(Kind::kAverage);
  half.merge_fraction = 0.5;  // rows 5 (0.984784) and 4 (0.980581)
  const MergedSlots found = merged(half);
  EXPECT_EQ(found.merged, (Rows{0, 1, 1}));
  expect_rows(found.keys, {1, 0, 0.1, 1.5, 1.0, 0.85});
}

TEST_F(Merge, Pivot) {
  const MergedSlots found = merged(kind(Kind::kPivot));
  EXPECT_EQ(found.merged, (Rows{1, 2, 1}));
  expect_rows(found.keys, {1.25, 0.125, -0.133333, 1.566667, 1.0, 0.925});
  expect_rows(found.values, {1.0, 0.25, 0.666667, 0.5, 1.5, 2.0});
}

TEST_F(Merge, Weighted) {
  const MergedSlots found = merged(kind(Kind::kWeighted));
  EXPECT_EQ(found.merged, (Rows{1, 2, 1}));
  expect_rows(found.keys, {1.470143, 0.242536, -0.058425, 1.043046, 0.992392, 0.844674});
  expect_rows(found.values, {0.985071, 0.485071, 1.104378, 0.209536, 1.0, 1.984784});
}

TEST_F(Merge, WeightedWithAGateAtTheMean) {
  Reduction gated = kind(Kind::kWeighted);
  gated.mean_gate = true;
  const MergedSlots found = merged(gated);
  EXPECT_EQ(found.merged, (Rows{1, 1, 1}));
  expect_rows(found.keys, {1.470143, 0.242536, 0.098058, 1.490290, 0.992392, 0.844674});
  expect_rows(found.values, {0.985071, 0.485071, 1.470871, 0.5, 1.0, 1.984784});
}

TEST_F(Merge, GatedWithExponentialWeights) {
  const MergedSlots found = merged(kind(Kind::kGated), 0.826724);
  EXPECT_EQ(found.merged, (Rows{1, 1, 1}));
  expect_rows(found.keys, {1.492536, 0.246268, 0.099029, 1.504855, 1.0, 0.851141});
  expect_rows(found.values, {1.0, 0.492536, 1.485436, 0.504855, 1.007608, 2.0});
}

TEST_F(Merge, GatedWithTheCodesWeights) {
  Reduction as_code = kind(Kind::kGated);
  as_code.gated_as_weighted = true;
  expect_rows(merged(as_code, 0.826724).keys, {1.470143, 0.242536, 0.098058, 1.490290, 0.992392, 0.844674});
}

TEST(MergeThreshold, MovesTowardsTheCurrentMean) {
  EXPECT_NEAR(next_threshold(std::numeric_limits<double>::quiet_NaN(), 0.826724, 0.7), 0.826724, kTolerance);
  EXPECT_NEAR(next_threshold(0.826724, 0.983860, 0.7), 0.936719, kTolerance);
  EXPECT_NEAR(next_threshold(0.936719, 0.863131, 0.7), 0.885207, kTolerance);
}

TEST(NearestIndex, ChoosesTheCloserAnchorAndTheSmallerOnTies) {
  // Anchors 1, 3, 6 of the kept set 0, 1, 3, 6, 7.
  const Rows kept = {0, 1, 3, 6, 7};
  const NearestKept nearest = nearest_by_index(Rows{0, 1, 2, 3, 4, 5, 6, 7}, kept, Rows{1, 2, 3});
  EXPECT_EQ(nearest.leaving, (Rows{2, 4, 5}));
  EXPECT_EQ(nearest.target, (Rows{1, 2, 3}));  // 2 -> 1 (tie with 3), 4 -> 3, 5 -> 6
  Reduction reduction;
  reduction.kind = Kind::kNearestIndex;
  const at::Tensor rows = at::arange(8, at::kFloat).unsqueeze(1);
  const MergedSlots found = merge_into_targets(reduction, rows, rows, kept, nearest, 0.0);
  expect_rows(found.keys, {0, 1.5, 3.5, 5.5, 7});
  EXPECT_EQ(found.merged, (Rows{0, 1, 1, 1, 0}));
  EXPECT_EQ(nearest_by_index(Rows{0, 1, 2}, Rows{0, 2}, Rows{}).target, (Rows{-1}));
  // Token numbers count, not rows: 7 is nearer to 9 than to 3.
  EXPECT_EQ(nearest_by_index(Rows{3, 7, 9}, Rows{0, 2}, Rows{0, 1}).target, (Rows{1}));
}

TEST(ValuePush, Probabilities) {
  Reduction reduction;
  reduction.kind = Kind::kValuePush;
  const std::vector<float> window = {0.5F, 0.4F, 0.3F};
  EXPECT_NEAR(push_probability(reduction, 0.30F, window), 0.75, kTolerance);
  reduction.push_reference = Reduction::PushReference::kMaximum;
  EXPECT_NEAR(push_probability(reduction, 0.30F, std::vector<float>{0.9F, 0.5F, 0.4F, 0.3F}), 0.333333, kTolerance);
  EXPECT_EQ(push_probability(reduction, 0.0F, std::vector<float>{0.0F}), 0.0);
  EXPECT_EQ(push_probability(reduction, 0.1F, std::vector<float>{0.0F}), 1.0);
}

// Row 0 leaves; rows 1 .. 3 receive a third of its value each.
TEST(ValuePush, AddsToTheNextKeptValues) {
  Reduction reduction;
  reduction.kind = Kind::kValuePush;
  reduction.push_window = 3;
  const at::Tensor values = pairs({0.6, -0.3, 1, 0, 0, 1, 2, 2});
  const at::Tensor keys = pairs({9, 9, 1, 1, 2, 2, 3, 3});
  const std::vector<float> attention = {0.3F, 0.5F, 0.4F, 0.3F};
  const Rows original = {40, 41, 42, 43};
  const Rows kept = {1, 2, 3};
  reduction.push_expected = true;
  const MergedSlots expected = push_values(reduction, keys, values, kept, {attention, original, 0, 0});
  expect_rows(expected.values, {1.15, -0.075, 0.15, 0.925, 2.15, 1.925});
  expect_rows(expected.keys, {1, 1, 2, 2, 3, 3});
  EXPECT_EQ(expected.merged, (Rows{1, 1, 1}));
  reduction.push_expected = false;
  // A draw under 0.75 pushes everything, one above nothing.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    reduction.seed = seed;
    const bool pushes = random_hash_uniform(seed, 2, 1, 40) < 0.75F;
    const MergedSlots drawn = push_values(reduction, keys, values, kept, {attention, original, 2, 1});
    expect_rows(drawn.values, pushes ? std::vector<double>{1.2, -0.1, 0.2, 0.9, 2.2, 1.9} : std::vector<double>{1, 0, 0, 1, 2, 2});
    EXPECT_EQ(drawn.merged, pushes ? (Rows{1, 1, 1}) : (Rows{0, 0, 0}));
  }
}

// The slot before the leaving one receives nothing, but its 0.9 is the largest that stays: 0.3 / 0.9 of (0.6, -0.3), a third each.
TEST(ValuePush, MaximumIsOverAllThatStays) {
  Reduction reduction;
  reduction.kind = Kind::kValuePush;
  reduction.push_window = 3;
  reduction.push_expected = true;
  reduction.push_reference = Reduction::PushReference::kMaximum;
  const at::Tensor values = pairs({5, 5, 0.6, -0.3, 1, 0, 0, 1, 2, 2});
  const std::vector<float> attention = {0.9F, 0.3F, 0.5F, 0.4F, 0.3F};
  const Rows original = {0, 40, 41, 42, 43};
  const MergedSlots pushed = push_values(reduction, values, values, Rows{0, 2, 3, 4}, {attention, original, 0, 0});
  expect_rows(pushed.values, {5, 5, 1.066667, -0.033333, 0.066667, 0.966667, 2.066667, 1.966667});
}

// Rows 1, 2 and 4 leave, one after the other, each into the two rows that follow it, whether those stay or leave later:
// 1 hands on half of 1 (1 against a mean of 2): 0.25 each to 2 and 3; 2, by then 2.25, all of it (2 against 1.5): 1.125 each to 3 and 4;
// 4, by then 5.125, a third (1 against 3) to 5 alone.
TEST(ValuePush, LeavingRowsTakeTurnsAndHandOnWhatTheyWereGiven) {
  Reduction reduction;
  reduction.kind = Kind::kValuePush;
  reduction.push_window = 2;
  reduction.push_expected = true;
  const at::Tensor values = at::tensor(std::vector<float>{10, 1, 2, 3, 4, 5}).unsqueeze(1);
  const at::Tensor keys = at::arange(6, at::kFloat).unsqueeze(1);
  const std::vector<float> attention = {9, 1, 2, 2, 1, 3};
  const Rows original = {0, 1, 2, 3, 4, 5};
  const MergedSlots expected = push_values(reduction, keys, values, Rows{0, 3, 5}, {attention, original, 0, 0});
  expect_rows(expected.values, {10, 4.375, 6.708333});
  expect_rows(expected.keys, {0, 3, 5});
  EXPECT_EQ(expected.merged, (Rows{0, 2, 1}));
  expect_rows(values, {10, 1, 2, 3, 4, 5});  // what came in is not touched

  reduction.push_expected = false;
  std::set<std::pair<bool, bool>> met;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    reduction.seed = seed;
    const bool first = random_hash_uniform(seed, 3, 1, 1) < 0.5F;
    const bool last = random_hash_uniform(seed, 3, 1, 4) < 1.0F / 3.0F;
    met.emplace(first, last);
    const double third = first ? 3 + 0.5 + 1.25 : 3 + 1;
    const double fourth = first ? 4 + 1.25 : 4 + 1;
    expect_rows(push_values(reduction, keys, values, Rows{0, 3, 5}, {attention, original, 3, 1}).values,
                {10, third, last ? 5 + fourth : 5});
  }
  EXPECT_EQ(met.size(), 4U);
}

TEST(ValuePush, TheLastRowHasNobodyToHandItsValueTo) {
  Reduction reduction;
  reduction.kind = Kind::kValuePush;
  reduction.push_expected = true;
  const at::Tensor values = pairs({1, 2, 3, 4, 5, 6});
  const MergedSlots pushed = push_values(reduction, values, values, Rows{0, 1}, {std::vector<float>{1, 1, 1}, Rows{0, 1, 2}, 0, 0});
  expect_rows(pushed.values, {1, 2, 3, 4});
}

// 320 values of 1 leave a gap before 16 that stay, each handing on half: a leaving value tends to x = 1 + x / 2 = 2, so that the k-th of
// the 16 ends at 1 + (17 - k) * (2 / 2) / 16, on average 1.53. Pushed into the 16 behind the gap, each would grow to 1 + 320 * 0.5 / 16
// = 11.
TEST(ValuePush, AWideGapDoesNotPileUpBehindItself) {
  constexpr std::size_t kSinks = 4, kGap = 320, kWindow = 16, kAll = kSinks + kGap + kWindow;
  Reduction reduction;
  reduction.kind = Kind::kValuePush;
  reduction.push_expected = true;
  std::vector<float> attention(kAll, 1.0F);
  for (std::size_t row = kSinks + kGap; row-- > kSinks;) {  // half of the following 16's mean
    attention[row] = 0.5F * std::accumulate(attention.begin() + row + 1, attention.begin() + row + 1 + kWindow, 0.0F) / kWindow;
  }
  Rows original(kAll);
  std::iota(original.begin(), original.end(), 0);
  Rows kept = {0, 1, 2, 3};
  std::vector<double> wanted(kSinks, 1.0);
  for (std::size_t k = 1; k <= kWindow; ++k) {
    kept.push_back(static_cast<std::int32_t>(kSinks + kGap + k - 1));
    wanted.push_back(1.0 + static_cast<double>(kWindow + 1 - k) / kWindow);
  }
  const at::Tensor ones = at::ones({static_cast<std::int64_t>(kAll), 1});
  const MergedSlots pushed = push_values(reduction, ones, ones, kept, {attention, original, 0, 0});
  expect_rows(pushed.values, wanted);
  EXPECT_NEAR(pushed.values.narrow(0, kSinks, kWindow).mean().item<double>(), 1.53125, kTolerance);
}

}  // namespace
}  // namespace winnow
