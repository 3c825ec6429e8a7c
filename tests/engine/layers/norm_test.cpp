#include "engine/layers/norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/tensor_distance.h"

namespace winnow {
namespace {

using test_support::relative_distance;

TEST(RmsNorm, DividesByTheRootOfTheMeanSquare) {
  // mean(9, 16) = 12.5
  const RmsNorm norm{at::tensor({2.0F, 1.0F}), 0.0};
  const at::Tensor out = norm(at::tensor({3.0F, 4.0F}).unsqueeze(0));
  EXPECT_NEAR(out[0][0].item<float>(), 2.0 * 3.0 / std::sqrt(12.5), 1e-6);
  EXPECT_NEAR(out[0][1].item<float>(), 4.0 / std::sqrt(12.5), 1e-6);
}

TEST(RmsNorm, EpsilonKeepsZerosZero) {
  const RmsNorm norm{at::ones({4}), 1e-6};
  EXPECT_EQ(norm(at::zeros({2, 4})).abs().max().item<float>(), 0.0F);
}

TEST(RmsNorm, BrainFloatIsRoundedAsInTransformers) {
  at::manual_seed(3);
  const at::Tensor input = (at::randn({5, 96}) * 4).to(at::kBFloat16);
  const at::Tensor weight = at::randn({96}).to(at::kBFloat16);
  const at::Tensor wide = input.to(at::kFloat);
  const at::Tensor expected = weight * (wide * at::rsqrt(wide.pow(2).mean(-1, true) + 1e-6)).to(at::kBFloat16);
  const at::Tensor actual = RmsNorm{weight, 1e-6}(input);
  ASSERT_EQ(actual.scalar_type(), at::kBFloat16);
  EXPECT_LE(relative_distance(actual, expected), 1.0 / 256);  // one unit in the last place where the scale's own last bit differs
}

TEST(RmsNorm, RowsOfAStridedViewAreIndependent) {
  at::manual_seed(4);
  const at::Tensor both = at::randn({6, 32});
  const RmsNorm norm{at::ones({16}), 1e-6};
  const at::Tensor view = both.narrow(1, 16, 16);
  EXPECT_LE(relative_distance(norm(view), norm(view.contiguous())), 1e-6);
}

TEST(LayerNorm, CentresAndScales) {
  const LayerNorm norm{at::ones({2}), at::tensor({0.0F, 10.0F}), 0.0};
  const at::Tensor out = norm(at::tensor({1.0F, 5.0F}).unsqueeze(0));  // mean 3, deviation 2
  EXPECT_NEAR(out[0][0].item<float>(), -1.0, 1e-6);
  EXPECT_NEAR(out[0][1].item<float>(), 11.0, 1e-6);
}

}  // namespace
}  // namespace winnow
