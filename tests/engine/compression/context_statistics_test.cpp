// What keys, values and queries of the context say without attention: numbers computed by hand in double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/compression/statistics/context_keys.h"
#include "engine/compression/statistics/expected_attention.h"
#include "engine/layers/rotary.h"
#include "engine/recipes/scorers/context_scorer.h"
#include "tests/engine/compression/layer_fixture.h"

namespace winnow {
namespace {

using enum Modality;

// Five slots of one kv head with head size 2, and two query heads.
LayerView five_slots() {
  LayerView view;
  view.scale = 1.0 / std::sqrt(2.0);
  view.key = at::tensor({2., 0., 1., 1., 0., 1., 1., -1., 0., 2.}).to(at::kFloat).view({1, 5, 2});
  view.value = at::tensor({1., 0., 0., 2., 3., 0., 0., 1., 2., 2.}).to(at::kFloat).view({1, 5, 2});
  view.query = at::zeros({2, 5, 2});
  view.positions = at::arange(5, at::kLong).unsqueeze(0);
  view.rotary.theta = 10000.0;
  return view;
}

// Gives a query head queries of this mean and covariance over `count` rows from `first` on, rotated to their positions.
void set_moments(LayerView& view, std::int64_t head, std::int64_t first, std::int64_t count) {
  // Four rows: mean (0.5, 1), covariance ((0.5, 0.2), (0.2, 1)), population.
  ASSERT_EQ(count, 4);
  const at::Tensor root = at::tensor({0.697134623, 0.118335613, 0.118335613, 0.992973657}).view({2, 2});  // its square is the covariance
  const at::Tensor white = at::tensor({1., 1., 1., -1., -1., 1., -1., -1.}).view({4, 2});
  const at::Tensor rows = (at::mm(white, root.to(white.scalar_type())) + at::tensor({0.5, 1.})).to(at::kFloat);
  view.query[head].narrow(0, first, count).copy_(rotated_keys(rows, view.positions.narrow(1, first, count).to(at::kFloat), view.rotary));
}

TEST(KeyLikeness, OfFiveKeys) {
  const std::vector<Modality> visual(5, kVisual);
  const LayerView view = five_slots();
  LayerStatistics statistics;
  statistics.key_likeness = key_likeness(view, testing::segment_of(visual, 1, 2, 1));
  testing::expect_near(statistics.key_likeness.row(0), {0.770076, 0.995626, 0.637952, 0.093426, 0.637952});
  testing::expect_near(KeyDifferenceScorer().score(statistics, testing::segment_of(visual, 1, 2, 1)).row(0),
                       {-0.770076, -0.995626, -0.637952, -0.093426, -0.637952});
}

TEST(KeyLikeness, KnowsNothingOfWhatIsAroundTheMedia) {
  LayerView view = five_slots();
  const at::Tensor strange = at::full({1, 2, 2}, -50.0);
  view.key = at::cat({strange, view.key, strange}, 1);
  const std::vector<Modality> modality = {kSystem, kText, kVisual, kVisual, kText, kVisual, kVisual, kText, kText};
  testing::expect_near(key_likeness(view, testing::segment_of(modality, 1, 2, 1)).row(0),
                       {0., 0., 0.770076, 0.995626, 0.637952, 0.093426, 0.637952, 0., 0.});
}

TEST(KeyLikeness, AKeyOfLengthZeroHasNoDirection) {
  LayerView view = five_slots();
  view.key.zero_();
  const std::vector<Modality> visual(5, kVisual);
  testing::expect_near(key_likeness(view, testing::segment_of(visual, 1, 2, 1)).row(0), {0., 0., 0., 0., 0.});
}

TEST(ValueNorms, AreThoseOfTheContext) {
  const std::vector<Modality> modality = {kSystem, kVisual, kVisual, kVisual, kVisual};
  testing::expect_near(value_norms(five_slots(), testing::segment_of(modality, 1, 2, 1)).row(0), {0., 2., 3., 1., std::sqrt(8.)});
}

TEST(ExpectedAttention, OfFourSlotsAndTheNextTwoPositions) {
  LayerView view = five_slots();
  set_moments(view, 0, 1, 4);
  set_moments(view, 1, 1, 4);
  const std::vector<Modality> modality = {kSystem, kVisual, kVisual, kVisual, kVisual};
  const SegmentInfo segment = testing::segment_of(modality, 1, 2, 1);
  LayerStatistics statistics;
  statistics.expected = expected_attention(view, segment, {2});
  statistics.value_norms = value_norms(view, segment);
  testing::expect_near(statistics.expected.row(0), {0., 0.385571, 0.151066, 0.204344, 0.259018});
  testing::expect_near(ExpectedAttentionScorer({2}, 0.0).score(statistics, segment).row(0).subspan(1),
                       {0.771142, 0.453199, 0.204344, 0.732614});
  testing::expect_near(ExpectedAttentionScorer({2}, 0.02).score(statistics, segment).row(0).subspan(1),
                       {0.811142, 0.513199, 0.224344, 0.789183});
}

TEST(ExpectedAttention, AHeadHasTheMeanOfItsGroup) {
  LayerView view = five_slots();
  const std::vector<Modality> modality = {kSystem, kVisual, kVisual, kVisual, kVisual};
  const SegmentInfo segment = testing::segment_of(modality, 1, 2, 1);
  set_moments(view, 0, 1, 4);  // the other query head is 0: it expects every slot alike
  testing::expect_near(expected_attention(view, segment, {2}).row(0).subspan(1),
                       {(0.385571 + 0.25) / 2, (0.151066 + 0.25) / 2, (0.204344 + 0.25) / 2, (0.259018 + 0.25) / 2});
}

// Queries that are drawn as assumed: their mean attention before the softmax's denominator is what is expected.
TEST(ExpectedAttention, IsTheMeanExponentialOfNormalQueries) {
  constexpr std::int64_t kRows = 400;
  LayerView view = testing::random_view(LayerId(0), 1, 1, kRows, 4, {}, 0.7);
  view.positions = at::arange(kRows, at::kLong).unsqueeze(0);
  view.rotary.theta = 100.0;
  const std::vector<Modality> visual(kRows, kVisual);
  const HeadScores found = expected_attention(view, testing::segment_of(visual, 1, 1, 1), {1});

  const at::Tensor queries = rotated_keys(view.query[0], view.positions.to(at::kFloat).neg(), view.rotary).to(at::kDouble);
  const at::Tensor mean = queries.mean(0);
  const at::Tensor covariance = at::mm((queries - mean).t(), queries - mean) / kRows;
  const at::Tensor drawn = mean + at::mm(at::randn({200000, 4}, at::kDouble), at::linalg_cholesky(covariance).t());
  const at::Tensor rotated = rotated_keys(drawn.to(at::kFloat), at::full({1, 200000}, static_cast<float>(kRows)), view.rotary);
  const at::Tensor seen = at::exp(at::mm(rotated, view.key[0].t()) * view.scale).mean(0);
  const at::Tensor share = seen / seen.sum();
  for (std::int64_t j = 0; j < kRows; ++j) {
    const auto expected = share[j].item<float>();
    EXPECT_NEAR(found.row(0)[static_cast<std::size_t>(j)], expected, 0.02F * expected + 1e-6F) << j;
  }
}

// Rows that come in three passes are the rows that come in one, far from 0 as they are.
TEST(ExpectedAttention, MomentsOfSeveralPassesAddUp) {
  LayerView view = testing::random_view(LayerId(0), 4, 2, 30, 8, {}, 0.7);
  view.query.add_(40.0);
  view.positions = at::arange(30, at::kLong).unsqueeze(0);
  view.rotary.theta = 100.0;
  QueryMoments once;
  once.add(view, 0, 30);
  QueryMoments thrice;
  thrice.add(view, 0, 1);
  thrice.add(view, 1, 20);
  thrice.add(view, 21, 9);
  const std::vector<at::Tensor> keys = {view.key[0], view.key[1]};
  const at::Tensor expected = once.expected_attention(keys, 30, {5});
  ASSERT_EQ(expected.sizes(), (std::vector<std::int64_t>{2, 30}));
  EXPECT_TRUE(at::allclose(thrice.expected_attention(keys, 30, {5}), expected, 1e-9, 1e-12));
}

// Text stands at the same place on every axis: which axis turns which pair of a head then makes no difference.
TEST(ExpectedAttention, SeveralAxesThatAgreeAreOne) {
  LayerView view = testing::random_view(LayerId(0), 4, 2, 12, 8, {}, 0.7);
  const std::vector<Modality> visual(12, kVisual);
  const HeadScores one = expected_attention(view, testing::segment_of(visual, 1, 4, 2), {3});
  view.positions = view.positions.expand({3, 12});
  view.rotary.frequency_axis = {0, 0, 1, 2};
  EXPECT_EQ(expected_attention(view, testing::segment_of(visual, 1, 4, 2), {3}).values, one.values);
  view.positions = view.positions.clone();
  view.positions[1].mul_(2);
  EXPECT_NE(expected_attention(view, testing::segment_of(visual, 1, 4, 2), {3}).values, one.values);
}

TEST(ExpectedAttention, KeysThatDoNotRotateMeetTheQueriesAsTheyAre) {
  constexpr std::int64_t kRows = 30;
  LayerView view = testing::random_view(LayerId(0), 1, 1, kRows, 4, {}, 0.7);
  view.positions = at::arange(kRows, at::kLong).unsqueeze(0);
  view.rotary.theta = 0.0;
  const std::vector<Modality> visual(kRows, kVisual);
  const HeadScores found = expected_attention(view, testing::segment_of(visual, 1, 1, 1), {2});

  const at::Tensor queries = view.query[0].to(at::kDouble);
  const at::Tensor keys = view.key[0].to(at::kDouble);
  const at::Tensor mean = queries.mean(0);
  const at::Tensor covariance = at::mm((queries - mean).t(), queries - mean) / kRows;
  const at::Tensor spread = at::mm(keys, covariance).mul(keys).sum(1);
  const at::Tensor share = at::softmax(at::mv(keys, mean) * view.scale + spread * (view.scale * view.scale / 2.0), 0);
  for (std::int64_t j = 0; j < kRows; ++j) EXPECT_NEAR(found.row(0)[static_cast<std::size_t>(j)], share[j].item<double>(), 1e-6) << j;
}

}  // namespace
}  // namespace winnow
