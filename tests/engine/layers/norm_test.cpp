#include "engine/layers/norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/tensor_distance.h"

namespace winnow::test_support {
namespace {

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

// Enough rows for every thread, of views and alone.
TEST(RmsNorm, ManyRowsAreNormalisedAsOne) {
  at::manual_seed(5);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const RmsNorm norm{at::randn({700}).to(type), 1e-6};
    const at::Tensor rows = at::randn({3, 100, 710}).to(type).narrow(2, 10, 700);
    const at::Tensor together = norm(rows);
    ASSERT_TRUE(together.is_contiguous());
    EXPECT_TRUE(at::equal(norm(rows.narrow(0, 1, 1)), together.narrow(0, 1, 1)));
    EXPECT_TRUE(at::equal(norm(rows[2][99]), together[2][99]));
    EXPECT_TRUE(at::equal(norm(rows.unsqueeze(0)), together.unsqueeze(0))) << "four dimensions";
    EXPECT_TRUE(at::equal(norm(rows.transpose(0, 1)), together.transpose(0, 1)));
  }
}

TEST(RmsNorm, AfterAddingItIsThatOfTheSum) {
  at::manual_seed(6);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const at::ScalarType weight_type : {type, at::kFloat}) {
      for (const std::int64_t rows : {1, 90}) {
        const RmsNorm norm{at::randn({600}).to(weight_type), 1e-6};
        at::Tensor wider = at::randn({rows, 650}).to(type);
        const at::Tensor before = wider.clone();
        at::Tensor hidden = wider.narrow(1, 0, 600);
        const at::Tensor added = at::randn({rows, 600}).to(type);
        const at::Tensor normalised = norm.after_adding(hidden, added);
        EXPECT_TRUE(at::equal(hidden, before.narrow(1, 0, 600) + added));
        EXPECT_TRUE(at::equal(wider.narrow(1, 600, 50), before.narrow(1, 600, 50)));
        EXPECT_TRUE(at::equal(normalised, norm(hidden)));
      }
    }
  }
}

TEST(RmsNorm, InPlaceItIsOfEveryHeadAndOfNothingElse) {
  at::manual_seed(7);
  for (const std::int64_t rows : {1, 300}) {
    const RmsNorm norm{at::randn({64}).to(at::kBFloat16), 1e-6};
    at::Tensor all = at::randn({rows, 9, 64}).to(at::kBFloat16);
    const at::Tensor before = all.clone();
    at::Tensor heads = all.narrow(1, 2, 5);
    norm.in_place(heads);
    EXPECT_TRUE(at::equal(heads, norm(before.narrow(1, 2, 5))));
    EXPECT_TRUE(at::equal(all.narrow(1, 0, 2), before.narrow(1, 0, 2)));
    EXPECT_TRUE(at::equal(all.narrow(1, 7, 2), before.narrow(1, 7, 2)));
  }
}

TEST(LayerNorm, AfterAddingItIsThatOfTheSum) {
  const Norm norm{LayerNorm{at::ones({2}), at::tensor({0.0F, 10.0F}), 0.0}};
  at::Tensor hidden = at::tensor({1.0F, 2.0F}).unsqueeze(0);
  const at::Tensor out = norm.after_adding(hidden, at::tensor({0.0F, 3.0F}).unsqueeze(0));
  EXPECT_EQ(hidden[0][1].item<float>(), 5.0F);
  EXPECT_NEAR(out[0][1].item<float>(), 11.0, 1e-6);
}

TEST(LayerNorm, CentresAndScales) {
  const LayerNorm norm{at::ones({2}), at::tensor({0.0F, 10.0F}), 0.0};
  const at::Tensor out = norm(at::tensor({1.0F, 5.0F}).unsqueeze(0));  // mean 3, deviation 2
  EXPECT_NEAR(out[0][0].item<float>(), -1.0, 1e-6);
  EXPECT_NEAR(out[0][1].item<float>(), 11.0, 1e-6);
}

}  // namespace
}  // namespace winnow::test_support
