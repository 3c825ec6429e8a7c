#include "engine/layers/activation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace winnow {
namespace {

double activated(Activation activation, double x) {
  at::Tensor values = at::full({1}, x, at::kDouble);
  return activate(activation, values).item<double>();
}

TEST(Activation, FollowsItsFormula) {
  for (const double x : {-3.0, -0.5, 0.0, 0.25, 2.0}) {
    EXPECT_NEAR(activated(Activation::kSilu, x), x / (1 + std::exp(-x)), 1e-9);
    EXPECT_NEAR(activated(Activation::kGelu, x), 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))), 1e-9);
    EXPECT_NEAR(activated(Activation::kGeluTanh, x), 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))), 1e-9);
    EXPECT_NEAR(activated(Activation::kQuickGelu, x), x / (1 + std::exp(-1.702 * x)), 1e-9);
    EXPECT_NEAR(activated(Activation::kRelu, x), std::max(x, 0.0), 0.0);
  }
}

TEST(Activation, WorksInPlaceOnAView) {
  at::Tensor both = at::full({2, 4}, -1.0F);
  at::Tensor left = both.narrow(1, 0, 2);
  activate(Activation::kRelu, left);
  EXPECT_EQ(both.narrow(1, 0, 2).abs().max().item<float>(), 0.0F);
  EXPECT_EQ(both.narrow(1, 2, 2).max().item<float>(), -1.0F);
}

// As libtorch's operators one after the other, each rounded to the dtype: the same bits but where an activation lies between two of them.
TEST(Activation, OfGatesIsThatOfOneOperatorAfterTheOther) {
  at::manual_seed(5);
  for (const Activation activation : {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh, Activation::kRelu}) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      for (const std::int64_t rows : {1, 70}) {
        SCOPED_TRACE(::testing::Message() << static_cast<int>(activation) << " " << at::toString(type) << " rows " << rows);
        const at::Tensor wider = (at::randn({rows, 2 * 1000 + 24}) * 2).to(type);
        const at::Tensor both = wider.narrow(1, 24, 2000);
        const at::Tensor up = both.narrow(1, 1000, 1000);
        at::Tensor gate = both.narrow(1, 0, 1000).clone();
        const at::Tensor weights = gate * up;
        const at::Tensor expected = activate(activation, gate) * up;
        const at::Tensor actual = activate_gated(activation, rows == 1 ? both.contiguous() : both);
        ASSERT_TRUE(actual.is_contiguous());
        ASSERT_EQ(actual.scalar_type(), type);
        if (type == at::kFloat) {
          EXPECT_TRUE((actual - expected).abs().le(weights.abs() * 1e-6).all().item<bool>());
        } else {  // in the tails of a GELU libtorch subtracts numbers that are nearly equal
          const bool tails = activation == Activation::kGelu || activation == Activation::kGeluTanh;
          EXPECT_LE(actual.ne(expected).sum().item<std::int64_t>(), 2 + rows * (tails ? 30 : 5));
        }
      }
    }
  }
}

TEST(Activation, OfNoRowsIsNone) { EXPECT_EQ(activate_gated(Activation::kSilu, at::empty({0, 8})).sizes(), (at::IntArrayRef{0, 4})); }

}  // namespace
}  // namespace winnow
