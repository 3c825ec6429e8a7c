// Allocators on the methods' tables: every number was computed twice in double precision, outside this program.
#include <gtest/gtest.h>

#include <numeric>

#include "engine/recipes/allocators/cross_modal.h"
#include "engine/recipes/allocators/inverse_variance.h"
#include "engine/recipes/allocators/prefix_mass.h"
#include "engine/recipes/allocators/pyramid.h"
#include "engine/recipes/allocators/strength_skew.h"
#include "engine/recipes/budget.h"

namespace winnow {
namespace {

using LayerBudgets = std::vector<std::int64_t>;

BudgetBounds bounds(std::size_t layers, std::int64_t total, std::int64_t low, std::int64_t high) {
  return {total, LayerBudgets(layers, low), LayerBudgets(layers, high), high, 1.0, {}};
}

LayerBudgets budgets_of(const Allocator& allocator, const std::vector<LayerMeasure>& measured, const BudgetBounds& within) {
  if (auto budgets = allocator.budgets(measured, within)) return *budgets;
  return allocate(allocator.weights(measured), within.total, within.low, within.high);
}

void expect_weights(const Allocator& allocator, const std::vector<LayerMeasure>& measured, const std::vector<double>& expected) {
  const std::vector<double> weights = allocator.weights(measured);
  ASSERT_EQ(weights.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(weights[i], expected[i], 1e-5) << i;
}

TEST(CrossModalAllocator, SharesBySoftmaxOfEntropies) {
  const CrossModalAllocator allocator(CrossModalAllocator::Entropy::kCrossModal, {});
  const std::vector<LayerMeasure> measured = {{2.0}, {1.0}, {0.5}};
  expect_weights(allocator, measured, {0.628532, 0.231224, 0.140244});
  EXPECT_EQ(budgets_of(allocator, measured, bounds(3, 30, 1, 50)), (LayerBudgets{19, 7, 4}));
  EXPECT_EQ(budgets_of(allocator, measured, bounds(3, 90, 1, 50)), (LayerBudgets{50, 25, 15}));
}

TEST(StrengthSkewAllocator, JoinsBothHalvesAtMeanOne) {
  using Use = StrengthSkewAllocator::Use;
  using Norm = StrengthSkewAllocator::SkewNorm;
  const std::vector<LayerMeasure> measured = {{0.5, 2.236068}, {0.3, 1.697056}, {0.2, 1.924501}};
  const StrengthSkewAllocator both({}, Use::kBoth, Norm::kMeanOne);
  expect_weights(both, measured, {0.529042 / 0.4, 0.353830 / 0.4, 0.317128 / 0.4});
  EXPECT_EQ(budgets_of(both, measured, bounds(3, 6, 1, 5)), (LayerBudgets{3, 2, 1}));
  EXPECT_EQ(budgets_of(both, measured, bounds(3, 10, 1, 5)), (LayerBudgets{4, 3, 3}));
  expect_weights(StrengthSkewAllocator({}, Use::kStrength, Norm::kMeanOne), measured, {1.5, 0.9, 0.6});
  expect_weights(StrengthSkewAllocator({}, Use::kSkew, Norm::kMeanOne), measured, {1.145209, 0.869152, 0.985639});
}

TEST(StrengthSkewAllocator, NegativeSkewCountsAsNothing) {
  const StrengthSkewAllocator skew({}, StrengthSkewAllocator::Use::kSkew, StrengthSkewAllocator::SkewNorm::kMeanOne);
  expect_weights(skew, {{0.1, -1.0}, {0.1, 2.0}}, {0.0, 2.0});
  expect_weights(skew, {{0.1, -1.0}, {0.1, -2.0}}, {1.0, 1.0});
}

TEST(InverseVarianceAllocator, RawVariances) {
  const InverseVarianceAllocator allocator(InverseVarianceAllocator::Norm::kRaw);
  const std::vector<LayerMeasure> measured = {{0.2}, {1.0}, {3.0}};
  expect_weights(allocator, measured, {0.662191, 0.297541, 0.040268});
  EXPECT_EQ(budgets_of(allocator, measured, bounds(3, 36, 1, 40)), (LayerBudgets{24, 11, 1}));
}

// Per-head sample variances; 101 tokens make the sample variance 1.01 times the population variance that the statistic holds.
TEST(InverseVarianceAllocator, VariancesMappedOverHeads) {
  const std::vector<std::vector<double>> sample = {{1, 2, 4, 3}, {0.5, 0.5, 2.5, 0.5}, {10, 40, 30, 20}};
  const InverseVarianceAllocator allocator(InverseVarianceAllocator::Norm::kHeadMinMax);
  SegmentInfo segment{.tokens = 101};
  std::vector<LayerMeasure> measured;
  for (const auto& variances : sample) {
    LayerStatistics layer;
    layer.by_rows.emplace_back();
    layer.by_rows[0].rows = RowRule::all();
    for (const double variance : variances) layer.by_rows[0].head_variance.push_back(variance / 1.01);
    measured.push_back(allocator.measure(layer, segment));
  }
  EXPECT_NEAR(measured[0][0], 0.5, 1e-5);
  EXPECT_NEAR(measured[1][0], 0.25, 1e-5);
  EXPECT_NEAR(measured[2][0], 0.5, 1e-5);
  EXPECT_EQ(budgets_of(allocator, measured, bounds(3, 36, 1, 40)), (LayerBudgets{11, 14, 11}));
}

TEST(InverseVarianceAllocator, VariancesMappedOverLayers) {
  const InverseVarianceAllocator allocator(InverseVarianceAllocator::Norm::kLayerMinMax);
  const std::vector<LayerMeasure> measured = {{2.5}, {1.0}, {25.0}};
  expect_weights(allocator, measured, {0.407150, 0.433408, 0.159442});
  EXPECT_EQ(budgets_of(allocator, measured, bounds(3, 36, 1, 40)), (LayerBudgets{15, 15, 6}));
}

TEST(PyramidAllocator, FallsLinearly) {
  const PyramidAllocator allocator(8, 20.0);
  const auto give = [&](std::size_t layers, std::int64_t mean, std::int64_t n) {
    return budgets_of(allocator, std::vector<LayerMeasure>(layers), bounds(layers, mean * static_cast<std::int64_t>(layers), 9, n));
  };
  EXPECT_EQ(give(4, 50, 200), (LayerBudgets{90, 63, 37, 10}));
  EXPECT_EQ(give(4, 48, 80), (LayerBudgets{80, 59, 37, 16}));
  EXPECT_EQ(give(1, 30, 100), (LayerBudgets{30}));
}

// The table's third row, 15.8 13.27 10.73 8.2 -> 16 13 11 8, has no floor of window + 1 under it.
TEST(PyramidAllocator, SmallBudgets) {
  EXPECT_EQ(budgets_of(PyramidAllocator(8, 20.0), std::vector<LayerMeasure>(4), bounds(4, 48, 1, 200)), (LayerBudgets{16, 13, 11, 8}));
}

// Everything below the floor is lifted to it, and the total stays exact.
TEST(PyramidAllocator, KeepsTheTotalWhereTheFloorBinds) {
  const LayerBudgets budgets = budgets_of(PyramidAllocator(8, 20.0), std::vector<LayerMeasure>(4), bounds(4, 48, 9, 200));
  EXPECT_EQ(std::accumulate(budgets.begin(), budgets.end(), std::int64_t{0}), 48);
  for (const std::int64_t budget : budgets) EXPECT_GE(budget, 9);
}

TEST(PrefixMassAllocator, LevelsTheRetainedMass) {
  const std::vector<std::vector<float>> scores = {{4, 3, 1, 1, .5F, .5F}, {2.1F, 2, 1.9F, 1.8F, 1.2F, 1}, {7, 1, 1, .5F, .3F, .2F}};
  std::vector<LayerMeasure> measured;
  for (const auto& layer : scores) measured.push_back(cumulative_mass(layer));
  EXPECT_NEAR(measured[0][2], 0.70, 1e-6);
  EXPECT_NEAR(measured[1][4], 0.78, 1e-6);
  EXPECT_NEAR(measured[2][6], 1.00, 1e-6);
  const PrefixMassAllocator allocator;
  EXPECT_EQ(budgets_of(allocator, measured, bounds(3, 6, 1, 6)), (LayerBudgets{2, 3, 1}));
  EXPECT_EQ(budgets_of(allocator, measured, bounds(3, 9, 1, 6)), (LayerBudgets{3, 4, 2}));
  EXPECT_EQ(budgets_of(allocator, measured, bounds(3, 9, 2, 6)), (LayerBudgets{3, 4, 2}));
  EXPECT_EQ(budgets_of(allocator, measured, bounds(3, 12, 2, 6)), (LayerBudgets{4, 5, 3}));
}

// The same layers with slots that stay anyway: their masses count from the first slot beside them. One each, then two (masses .21; .70 .60
// .70; .80 .78 .80, and 0; .40 .21 .70; .70 .60 .70).
TEST(PrefixMassAllocator, ProtectedSlotsComeOnTop) {
  std::vector<LayerMeasure> measured;
  for (const std::vector<float>& layer :
       {std::vector<float>{4, 3, 1, 1, .5F, .5F}, {2.1F, 2, 1.9F, 1.8F, 1.2F, 1}, {7, 1, 1, .5F, .3F, .2F}}) {
    measured.push_back(cumulative_mass(layer));
  }
  const PrefixMassAllocator allocator;
  const auto give = [&](std::int64_t total, std::int64_t guarded) {
    BudgetBounds within = bounds(3, total, guarded, 6);
    within.guarded = within.low;
    return budgets_of(allocator, measured, within);
  };
  EXPECT_EQ(give(6, 1), (LayerBudgets{2, 2, 2}));
  EXPECT_EQ(give(9, 1), (LayerBudgets{3, 4, 2}));
  EXPECT_EQ(give(12, 1), (LayerBudgets{4, 5, 3}));
  EXPECT_EQ(give(6, 2), (LayerBudgets{2, 2, 2}));
  EXPECT_EQ(give(9, 2), (LayerBudgets{3, 3, 3}));
  EXPECT_EQ(give(12, 2), (LayerBudgets{4, 5, 3}));
  EXPECT_EQ(give(18, 2), (LayerBudgets{6, 6, 6}));
}

BudgetBounds at_retention(double retention, std::size_t layers, std::int64_t n) {
  BudgetBounds within = bounds(layers, round_half_up(retention * static_cast<double>(n) * static_cast<double>(layers)), 1, n);
  within.retention = retention;
  return within;
}

TEST(FixedSharesAllocator, ReadsSharesByDepth) {
  const FixedSharesAllocator allocator({{0.3, {0.4, 0.2}}});
  const auto give = [&](std::size_t layers) {
    return budgets_of(allocator, std::vector<LayerMeasure>(layers), at_retention(0.3, layers, 100));
  };
  EXPECT_EQ(give(2), (LayerBudgets{40, 20}));
  EXPECT_EQ(give(3), (LayerBudgets{40, 30, 20}));
  EXPECT_EQ(give(1), (LayerBudgets{30}));  // one layer takes the whole budget
}

// Equal mass at half the cache is nothing like two and a half times equal mass at a fifth: each retention has its own row.
TEST(FixedSharesAllocator, TakesTheRowOfTheRetentionOrTheLineBetweenTwo) {
  const FixedSharesAllocator allocator({{0.2, {0.1, 0.3}}, {0.5, {0.61, 0.39}}});
  const auto give = [&](double retention) { return budgets_of(allocator, std::vector<LayerMeasure>(2), at_retention(retention, 2, 100)); };
  EXPECT_EQ(give(0.2), (LayerBudgets{10, 30}));
  EXPECT_EQ(give(0.5), (LayerBudgets{61, 39}));   // the row of 0.2, scaled, would give 25 and 75
  EXPECT_EQ(give(0.3), (LayerBudgets{27, 33}));   // a third of the way: 0.1 + 0.51 / 3, 0.3 + 0.09 / 3
  EXPECT_EQ(give(0.35), (LayerBudgets{36, 34}));  // half of it: 35.5 and 34.5, the odd slot to the lower layer
  EXPECT_EQ(give(0.1), (LayerBudgets{5, 15}));    // below the first row the line leads to nothing at 0
  EXPECT_EQ(give(0.75), (LayerBudgets{81, 69}));  // above the last to everything at 1: (0.61 + 1) / 2 and (0.39 + 1) / 2, 80.5 and 69.5
}

TEST(FixedSharesAllocator, HoldsTheBounds) {
  const FixedSharesAllocator allocator({{0.5, {0.95, 0.05}}});
  BudgetBounds within = at_retention(0.5, 2, 100);
  within.low = {20, 20};
  EXPECT_EQ(budgets_of(allocator, std::vector<LayerMeasure>(2), within), (LayerBudgets{80, 20}));
}

}  // namespace
}  // namespace winnow
