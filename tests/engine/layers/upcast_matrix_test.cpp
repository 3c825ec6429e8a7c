#include "engine/layers/upcast_matrix.h"

#include <gtest/gtest.h>

#include <memory>

#include "engine/layers/linear.h"
#include "tests/support/expect_error.h"
#include "tests/support/tensor_distance.h"

namespace winnow {
namespace {

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

}  // namespace
}  // namespace winnow
