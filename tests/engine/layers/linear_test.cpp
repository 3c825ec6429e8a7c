#include "engine/layers/linear.h"

#include <gtest/gtest.h>

#include <array>

#include "engine/base/error.h"
#include "engine/layers/mlp.h"
#include "tests/support/tensor_distance.h"

namespace winnow {
namespace {

using test_support::relative_distance;

TEST(Linear, FusedOutputsLieSideBySide) {
  at::manual_seed(1);
  const std::array parts = {Linear{at::randn({3, 5}), at::randn({3})}, Linear{at::randn({2, 5}), at::randn({2})}};
  const at::Tensor input = at::randn({4, 5});
  const at::Tensor fused = fuse(parts)(input);
  EXPECT_LE(relative_distance(fused.narrow(1, 0, 3), parts[0](input)), 1e-6);
  EXPECT_LE(relative_distance(fused.narrow(1, 3, 2), parts[1](input)), 1e-6);
}

TEST(Linear, PartsMustAgreeOnABias) {
  const std::array parts = {Linear{at::randn({3, 5}), at::randn({3})}, Linear{at::randn({2, 5}), {}}};
  EXPECT_THROW(fuse(parts), Exception);
}

TEST(GatedMlp, MultipliesTheActivatedGateWithUp) {
  // gate = x, up = 2x, down sums both columns: 2 (silu(1) 1 + silu(-2) (-2))
  GatedMlp mlp;
  mlp.gate_up.weight = at::cat({at::eye(2), at::eye(2) * 2}, 0);
  mlp.down.weight = at::ones({1, 2});
  const at::Tensor out = mlp(at::tensor({1.0F, -2.0F}).unsqueeze(0));
  const double silu_one = 1.0 / (1.0 + std::exp(-1.0));
  const double silu_minus_two = -2.0 / (1.0 + std::exp(2.0));
  EXPECT_NEAR(out.item<float>(), 2.0 * silu_one - 4.0 * silu_minus_two, 1e-6);
}

}  // namespace
}  // namespace winnow
