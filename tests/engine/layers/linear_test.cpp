#include "engine/layers/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "engine/layers/activation.h"
#include "engine/layers/mlp.h"
#include "engine/layers/upcast_matrix.h"
#include "tests/support/expect_error.h"
#include "tests/support/tensor_distance.h"

namespace winnow {
namespace {

// Three rows and two columns as eighths, in a byte each.
class Eighths : public PackedMatrix {
 public:
  explicit Eighths(const at::Tensor& dense) : codes_((dense * 8).round().to(at::kChar)) {}
  std::int64_t out() const override { return codes_.size(0); }
  std::int64_t in() const override { return codes_.size(1); }
  std::int64_t bytes() const override { return codes_.numel(); }
  at::Tensor times(const at::Tensor& input) const override { return at::linear(input, numbers(input.scalar_type())); }
  at::Tensor columns(std::int64_t first, std::int64_t count) const override { return numbers(at::kFloat).narrow(1, first, count); }
  at::Tensor rows(const at::Tensor& ids) const override { return numbers(at::kFloat).index_select(0, ids); }

 private:
  at::Tensor numbers(at::ScalarType type) const { return codes_.to(type) / 8; }
  at::Tensor codes_;
};

TEST(LinearWeight, PackedGivesWhatItsNumbersGive) {
  const at::Tensor numbers = at::tensor({0.5F, -1.0F, 0.25F, 2.0F, 0.0F, 0.125F}).view({3, 2});
  const Linear dense{numbers, at::tensor({1.0F, 2.0F, 3.0F})};
  const Linear packed{LinearWeight(std::make_shared<Eighths>(numbers)), dense.bias};
  const at::Tensor input = at::tensor({1.0F, 2.0F, -3.0F, 4.0F}).view({2, 2});
  // 0.5 - 2 + 1, 0.25 + 4 + 2, 0.25 + 3; -1.5 - 4 + 1, -0.75 + 8 + 2, 0.5 + 3
  const at::Tensor expected = at::tensor({-0.5F, 6.25F, 3.25F, -4.5F, 9.25F, 3.5F}).view({2, 3});
  EXPECT_TRUE(at::equal(dense(input), expected));
  EXPECT_TRUE(at::equal(packed(input), expected));
  EXPECT_TRUE(at::equal(packed.weight.columns(1, 1), dense.weight.columns(1, 1)));
  const at::Tensor ids = at::tensor({2, 0}, at::kLong);
  EXPECT_TRUE(at::equal(packed.weight.rows(ids), dense.weight.rows(ids)));
  EXPECT_EQ(dense.weight.rows(ids)[0][1].item<float>(), 0.125F);
  EXPECT_EQ(dense.weight.bytes(), 24);
  EXPECT_EQ(packed.weight.bytes(), 6);
  for (const Linear& layer : {dense, packed}) {
    EXPECT_TRUE(layer.weight.defined());
    EXPECT_EQ(layer.weight.out(), 3);
    EXPECT_EQ(layer.weight.in(), 2);
  }
  EXPECT_FALSE(LinearWeight().defined());
}

TEST(LinearWeight, SumsOfAPackedMatrixAreNotRounded) {
  const at::Tensor ones = at::ones({1, 2});
  const at::Tensor input = at::tensor({1.0F, 0x1p-9F}).to(at::kBFloat16).unsqueeze(0);
  const LinearWeight packed(std::make_shared<Eighths>(ones));
  EXPECT_EQ(packed.times(input, {}).item<float>(), 1.0F) << "bf16 has eight binary digits";
  EXPECT_EQ(packed.times_in_fp32(input).item<float>(), 1.0F + 0x1p-9F);
  EXPECT_EQ(LinearWeight(ones.to(at::kBFloat16)).times_in_fp32(input).scalar_type(), at::kFloat);
}

TEST(GatedMlp, MultipliesTheActivatedGateWithUp) {
  // gate = x, up = 2x, down sums both columns: 2 (silu(1) 1 + silu(-2) (-2))
  GatedMlp mlp{.gate_up = {.weight = at::cat({at::eye(2), at::eye(2) * 2}, 0)}, .down = {.weight = at::ones({1, 2})}};
  const at::Tensor out = mlp(at::tensor({1.0F, -2.0F}).unsqueeze(0));
  const double silu_one = 1.0 / (1.0 + std::exp(-1.0));
  const double silu_minus_two = -2.0 / (1.0 + std::exp(2.0));
  EXPECT_NEAR(out.item<float>(), 2.0 * silu_one - 4.0 * silu_minus_two, 1e-6);
}

TEST(UpcastMatrix, MultipliesTheNumbersThatItHolds) {
  const c10::InferenceMode inference;
  const at::Tensor numbers = at::tensor({0.5F, -1.0F, 0.25F, 2.0F, 0.0F, 65504.0F}).view({3, 2}).to(at::kHalf);
  const LinearWeight weight(std::make_shared<UpcastMatrix>(numbers));
  EXPECT_EQ(weight.bytes(), 12);
  EXPECT_EQ(weight.out(), 3);
  EXPECT_EQ(weight.in(), 2);
  // 2^-20 is lost beside 1 in 16 bits and not in 32.
  const at::Tensor input = at::tensor({1.0F + 0x1p-20F, 2.0F});
  EXPECT_TRUE(at::equal(weight.times(input, at::tensor({0.0F, 1.0F, 0.0F})), at::tensor({-1.5F + 0x1p-21F, 5.25F + 0x1p-22F, 131008.0F})));
  EXPECT_TRUE(at::equal(weight.times_in_fp32(input), weight.times(input, {})));
  EXPECT_TRUE(at::equal(weight.columns(1, 1), at::tensor({-1.0F, 2.0F, 65504.0F}).view({3, 1})));
  EXPECT_TRUE(at::equal(weight.rows(at::tensor({2, 0}, at::kLong)), at::tensor({0.0F, 65504.0F, 0.5F, -1.0F}).view({2, 2})));
}

// One row, a few, many; sizes that fill no vector, and a matrix of which several parts are upcast, the last one shorter.
TEST(UpcastMatrix, IsItsUpcastMatrixUpToTheOrderOfSums) {
  const c10::InferenceMode inference;
  at::manual_seed(5);
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    for (const auto& [out, in] : {std::pair<std::int64_t, std::int64_t>{5, 3}, {70, 129}, {1500, 4096}}) {
      const at::Tensor numbers = at::randn({out, in}).to(type);
      const UpcastMatrix matrix(numbers);
      for (const std::int64_t rows : {1, 2, 8, 9, 33}) {
        const at::Tensor input = at::randn({rows, in});
        const at::Tensor found = matrix.times(input.view({1, rows, in}));
        EXPECT_EQ(found.sizes(), at::IntArrayRef({1, rows, out}));
        EXPECT_LT(test_support::relative_distance(found[0], at::linear(input, numbers.to(at::kFloat))), 1e-6)
            << rows << " rows of " << in << " for " << out;
      }
      EXPECT_EQ(matrix.times(at::randn({0, in})).size(1), out);
    }
  }
}

TEST(UpcastMatrix, TakesNumbersOf16BitsAndRowsOf32) {
  test::expect_error(ErrorCode::kInternal, "in 16 bits", [] { UpcastMatrix(at::ones({2, 2})); });
  const UpcastMatrix matrix(at::ones({2, 2}, at::kHalf));
  test::expect_error(ErrorCode::kInternal, "in fp32", [&] { matrix.times(at::ones({1, 2}, at::kHalf)); });
}

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
