// One row times a matrix of numbers on a GPU. On the emulated GPU as well (tests/engine/emulated_gpu).
#include <gtest/gtest.h>

#include "engine/layers/gemv.h"
#include "engine/layers/linear.h"
#include "tests/engine/cuda_plugin/cuda_test.h"
#include "tests/support/expect_error.h"
#include "tests/support/tensor_distance.h"

namespace winnow {
namespace {

using test_support::kGpu;
using test_support::relative_distance;

class CudaGemv : public test_support::NeedsDevice<::testing::Test> {
 protected:
  static at::Tensor numbers(at::IntArrayRef shape, at::ScalarType type) { return at::randn(shape).to(type); }
};

TEST_F(CudaGemv, IsTheProductInFp32RoundedOnce) {
  for (const auto& [type, unit] : {std::pair(at::kFloat, 1e-5), {at::kBFloat16, 0x1p-8}, {at::kHalf, 0x1p-11}}) {
    for (const bool biased : {false, true}) {
      SCOPED_TRACE(::testing::Message() << at::toString(type) << biased);
      const at::Tensor matrix = numbers({37, 264}, type);
      const at::Tensor input = numbers({1, 1, 264}, type);
      const at::Tensor bias = biased ? numbers({37}, type) : at::Tensor();
      const at::Tensor expected = at::linear(input.to(at::kFloat), matrix.to(at::kFloat), biased ? bias.to(at::kFloat) : at::Tensor());
      const Linear layer{matrix.to(kGpu), biased ? bias.to(kGpu) : at::Tensor()};
      ASSERT_TRUE(has_gemv(input.to(kGpu), matrix.to(kGpu)));
      const at::Tensor found = layer(input.to(kGpu));
      EXPECT_EQ(found.device(), kGpu);
      EXPECT_EQ(found.scalar_type(), type);
      EXPECT_EQ(found.sizes(), expected.sizes());
      EXPECT_LE(relative_distance(found.to(at::kCPU).to(at::kFloat), expected), unit);
      if (biased) continue;
      const at::Tensor wide = layer.weight.times_in_fp32(input.to(kGpu));
      EXPECT_EQ(wide.scalar_type(), at::kFloat);
      EXPECT_LE(relative_distance(wide.to(at::kCPU), expected), 1e-5) << "nothing is rounded on the way";
    }
  }
}

TEST_F(CudaGemv, OfGatesAndWhatTheyWeighIsTheActivationOfBothProducts) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const bool biased : {false, true}) {
      for (const std::int64_t rows : {1, 2}) {  // two go the way of libtorch's product
        SCOPED_TRACE(::testing::Message() << at::toString(type) << biased << rows);
        const Linear layer{numbers({74, 264}, type).to(kGpu), biased ? numbers({74}, type).to(kGpu) : at::Tensor()};
        const at::Tensor input = numbers({rows, 264}, type).to(kGpu);
        const at::Tensor expected = activate_gated(Activation::kSilu, layer(input));
        const at::Tensor found = layer.weight.times_gated(input, layer.bias, Activation::kSilu);
        EXPECT_EQ(found.scalar_type(), type);
        EXPECT_EQ(found.sizes(), (std::vector<std::int64_t>{rows, 37}));
        EXPECT_TRUE(found.equal(expected)) << "sums and roundings are the same";
      }
    }
  }
}

TEST_F(CudaGemv, LeavesToLibtorchWhatIsNoRowOrDoesNotLieInPieces) {
  const at::Tensor matrix = numbers({16, 64}, at::kFloat);
  const at::Tensor there = matrix.to(kGpu);
  const auto expect_left = [](const at::Tensor& input, const at::Tensor& left) {
    EXPECT_FALSE(has_gemv(input, left));
    const at::Tensor found = LinearWeight(left).times(input, {});
    EXPECT_LE(relative_distance(found.to(at::kCPU), at::linear(input.to(at::kCPU), left.to(at::kCPU))), 1e-5);
  };
  expect_left(numbers({2, 64}, at::kFloat).to(kGpu), there);
  expect_left(numbers({1, 63}, at::kFloat).to(kGpu), there.narrow(1, 0, 63).contiguous());  // rows of 252 bytes
  expect_left(numbers({1, 60}, at::kFloat).to(kGpu), there.narrow(1, 0, 60));               // with room between them
  expect_left(numbers({65}, at::kFloat).to(kGpu).narrow(0, 1, 64).unsqueeze(0), there);     // begins four bytes too late
  EXPECT_FALSE(has_gemv(numbers({1, 64}, at::kFloat), there)) << "two devices";
  EXPECT_FALSE(has_gemv(numbers({1, 64}, at::kHalf).to(kGpu), there)) << "two types";
  EXPECT_TRUE(has_gemv(numbers({1, 64}, at::kFloat).to(kGpu), there.narrow(0, 3, 5))) << "some of its rows";
}

TEST_F(CudaGemv, RefusesABiasOfAnotherType) {
  const at::Tensor matrix = numbers({16, 64}, at::kHalf).to(kGpu);
  const at::Tensor input = numbers({1, 64}, at::kHalf).to(kGpu);
  test::expect_error(ErrorCode::kInternal, "bias", [&] { gemv(input, matrix, at::zeros({16}).to(kGpu), at::kHalf); });
}

}  // namespace
}  // namespace winnow
