#include "engine/layers/rotary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/tensor_distance.h"

namespace winnow::test_support {
namespace {

at::Tensor turn(const RotaryEmbedding& rotary, const at::Tensor& heads, const at::Tensor& positions) {
  at::Tensor out = at::empty_like(heads);
  apply_rotary(heads, rotary.angles(positions.unsqueeze(0)), out);
  return out;
}

TEST(RotaryEmbedding, TurnsPairsThatLieHalfAHeadApart) {
  // d = 4, base 100: angles per step 1 and 0.1; at position 2 they are 2 and 0.2.
  const RotaryEmbedding rotary(4, {100.0, {}}, at::kFloat, at::kCPU);
  const at::Tensor out = turn(rotary, at::tensor({1.0F, 0.0F, 0.0F, 1.0F}).view({1, 1, 4}), at::tensor({2}, at::kLong));
  EXPECT_NEAR(out[0][0][0].item<float>(), std::cos(2.0), 1e-6);
  EXPECT_NEAR(out[0][0][2].item<float>(), std::sin(2.0), 1e-6);
  EXPECT_NEAR(out[0][0][1].item<float>(), -std::sin(0.2), 1e-6);
  EXPECT_NEAR(out[0][0][3].item<float>(), std::cos(0.2), 1e-6);
}

TEST(RotaryEmbedding, PositionZeroChangesNothing) {
  at::manual_seed(2);
  const RotaryEmbedding rotary(16, {1e6, {}}, at::kFloat, at::kCPU);
  const at::Tensor heads = at::randn({1, 3, 16});
  EXPECT_LE(relative_distance(turn(rotary, heads, at::zeros({1}, at::kLong)), heads), 0.0);
}

TEST(RotaryEmbedding, DotProductsDependOnTheDistanceOnly) {
  at::manual_seed(2);
  const RotaryEmbedding rotary(32, {10000.0, {}}, at::kFloat, at::kCPU);
  const at::Tensor query = at::randn({1, 1, 32});
  const at::Tensor key = at::randn({1, 1, 32});
  const auto dot = [&](std::int64_t i, std::int64_t j) {
    return (turn(rotary, query, at::full({1}, i, at::kLong)) * turn(rotary, key, at::full({1}, j, at::kLong))).sum().item<double>();
  };
  EXPECT_NEAR(dot(7, 3), dot(1004, 1000), 1e-3);
  EXPECT_GT(std::abs(dot(7, 3) - dot(7, 4)), 1e-2);
}

// Head size 8, of which four elements are rotated: two frequencies, 1 and 0.1 at base 100, and two pairs that stay.
TEST(RotaryEmbedding, LeavesPairsBehindTheRotatedOnes) {
  RotaryScheme scheme{100.0, {1, 0}};
  scheme.rotated = 4;
  const RotaryEmbedding rotary(8, scheme, at::kFloat, at::kCPU);
  const RotaryAngles angles = rotary.angles(at::tensor({3, 2}).view({2, 1}));
  const std::vector<double> turns = {2.0, 0.3, 0.0, 0.0};
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(angles.cosine[0][0][i].item<double>(), std::cos(turns[static_cast<std::size_t>(i)]), 1e-6) << i;
    EXPECT_NEAR(angles.sine[0][0][i].item<double>(), std::sin(turns[static_cast<std::size_t>(i)]), 1e-6) << i;
  }
}

// Head size 8, four frequencies: 1, 0.1, 0.01, 0.001 at base 10^4; the first two turn by time, then height, then width (as Qwen2-VL's
// mrope_section [2, 1, 1]).
TEST(RotaryEmbedding, EachFrequencyTurnsByItsAxis) {
  const RotaryEmbedding rotary(8, {10000.0, {0, 0, 1, 2}}, at::kFloat, at::kCPU);
  const RotaryAngles angles = rotary.angles(at::tensor({3, 50, 700}).view({3, 1}));
  const std::vector<double> turns = {3.0, 0.3, 0.5, 0.7};
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(angles.cosine[0][0][i].item<double>(), std::cos(turns[static_cast<std::size_t>(i)]), 1e-5) << i;
    EXPECT_NEAR(angles.sine[0][0][i].item<double>(), std::sin(turns[static_cast<std::size_t>(i)]), 1e-5) << i;
  }
}

TEST(RotaryEmbedding, OnePositionOnEveryAxisHasTheAnglesOfItsRow) {
  RotaryScheme scheme{.theta = 10000.0, .magnitude = 1.2};
  for (const bool axes : {false, true}) {
    if (axes) scheme.frequency_axis = {0, 1, 2, 1};
    const RotaryEmbedding rotary(8, scheme, at::kBFloat16, at::kCPU);
    for (const std::int64_t position : {std::int64_t{0}, std::int64_t{7}, std::int64_t{131'071}, (std::int64_t{1} << 25) + 1}) {
      const RotaryAngles expected = rotary.angles(at::full({axes ? 3 : 1, 1}, position, at::kLong));
      const RotaryAngles angles = rotary.angles_at(position);
      EXPECT_TRUE(at::equal(angles.cosine, expected.cosine)) << position;
      EXPECT_TRUE(at::equal(angles.sine, expected.sine)) << position;
    }
  }
}

TEST(RotaryEmbedding, AKeyComesBackFromAnyPlace) {
  const RotaryScheme scheme{10000.0, {0, 0, 1, 2}};
  EXPECT_EQ(scheme.axes(), 3);
  const at::Tensor keys = at::randn({5, 8});
  const at::Tensor places = at::randint(0, 100, {3, 5}).to(at::kFloat);
  const at::Tensor back = rotated_keys(rotated_keys(keys, places, scheme), -places, scheme);
  EXPECT_TRUE(at::allclose(back, keys, 1e-4, 1e-5));
}

TEST(RotaryEmbedding, WritesIntoViewsWithOtherStrides) {
  at::manual_seed(2);
  const RotaryEmbedding rotary(8, {10000.0, {}}, at::kFloat, at::kCPU);
  const at::Tensor heads = at::randn({5, 2, 8});
  const at::Tensor positions = at::arange(5, at::kLong);
  at::Tensor by_head = at::empty({2, 5, 8});
  at::Tensor view = by_head.transpose(0, 1);
  apply_rotary(heads, rotary.angles(positions.unsqueeze(0)), view);
  EXPECT_LE(relative_distance(by_head.transpose(0, 1), turn(rotary, heads, positions)), 0.0);
}

// As libtorch's operators one after the other, each rounded to the dtype; of many rows, which threads share.
TEST(RotaryEmbedding, RoundsAsOneOperatorAfterTheOther) {
  at::manual_seed(3);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const RotaryEmbedding rotary(64, {10000.0, {}}, type, at::kCPU);
    const at::Tensor heads = at::randn({300, 7, 64}).to(type);
    const at::Tensor positions = at::arange(300, at::kLong);
    const RotaryAngles angles = rotary.angles(positions.unsqueeze(0));
    const at::Tensor first = heads.narrow(2, 0, 32), second = heads.narrow(2, 32, 32);
    const at::Tensor expected = at::cat({(first * angles.cosine).addcmul_(second, angles.sine, -1),  //
                                         (second * angles.cosine).addcmul_(first, angles.sine)},
                                        2);
    const at::Tensor actual = turn(rotary, heads, positions);
    if (type == at::kFloat) {
      EXPECT_TRUE(at::allclose(actual, expected, 0.0, 1e-6));
    } else {
      EXPECT_LE(actual.ne(expected).sum().item<std::int64_t>(), actual.numel() / 1000);
    }
  }
}

}  // namespace
}  // namespace winnow::test_support
