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

}  // namespace
}  // namespace winnow
