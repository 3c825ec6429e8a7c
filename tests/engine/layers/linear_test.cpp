#include "engine/layers/linear.h"

#include <gtest/gtest.h>

#include <memory>

#include "engine/layers/mlp.h"

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
