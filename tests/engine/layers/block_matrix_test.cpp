#include "engine/layers/block_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "kernels/api/int8_gemm.h"
#include "tests/kernels/random_blocks.h"
#include "tests/support/plain_processor.h"
#include "tests/support/tensor_distance.h"

namespace winnow {
namespace {

constexpr std::int64_t kIn = 512;

std::vector<std::int32_t> shuffled(std::int64_t count, unsigned seed) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, std::mt19937(seed));
  return order;
}

// Three parts of 21, 40 and 5 rows: two types that are multiplied in other ways, one of them in another order of rows and columns.
class Parts {
 public:
  BlockMatrix matrix() const {
    const auto view = [](const std::vector<std::uint8_t>& bytes) { return std::as_bytes(std::span(bytes)); };
    return BlockMatrix({{kernels::BlockType::kQ4_0, view(first_), 21},
                        {kernels::BlockType::kQ6_K, view(second_), 40, shuffled(40, 1), columns_},
                        {kernels::BlockType::kQ8_0, view(third_), 5}},
                       kIn, at::kFloat, {});
  }

 private:
  std::vector<std::uint8_t> first_ = kernels::random_blocks(kernels::BlockType::kQ4_0, 21 * kIn, 2);
  std::vector<std::uint8_t> second_ = kernels::random_blocks(kernels::BlockType::kQ6_K, 40 * kIn, 3);
  std::vector<std::uint8_t> third_ = kernels::random_blocks(kernels::BlockType::kQ8_0, 5 * kIn, 4);
  std::shared_ptr<const std::vector<std::int32_t>> columns_ = std::make_shared<const std::vector<std::int32_t>>(shuffled(kIn, 5));
};

void expect_close_per_column(const at::Tensor& found, const at::Tensor& expected, double tolerance) {
  for (const auto& [first, count] : {std::pair(0, 21), {21, 40}, {61, 5}}) {  // parts' values differ in size
    EXPECT_LE(test_support::relative_distance(found.narrow(1, first, count), expected.narrow(1, first, count)), tolerance) << first;
  }
}

// A prompt's rows are rounded as a decode step's are, also where there are more than are rounded at a time.
TEST(BlockMatrix, ManyRowsAreTheRowsOneAtATime) {
  const c10::InferenceMode inference;
  at::manual_seed(6);
  const Parts parts;
  const BlockMatrix matrix = parts.matrix();
  if (!kernels::int8_gemm_is_fast(kernels::BlockType::kQ8_0)) GTEST_SKIP() << "this processor multiplies many rows as numbers";
  for (const std::int64_t rows : {std::int64_t{9}, std::int64_t{30}, Int8Tiles::kMostInputs + 3}) {
    const at::Tensor input = at::randn({rows, kIn});
    const at::Tensor found = matrix.times(input.view({1, rows, kIn}));
    ASSERT_EQ(found.sizes(), at::IntArrayRef({1, rows, 66}));
    std::vector<at::Tensor> one_by_one;
    const std::int64_t step = rows > 30 ? 41 : 1;
    const at::Tensor chosen = at::arange(rows - 1, -1, -step, at::kLong);
    for (std::int64_t i = 0; i < chosen.size(0); ++i)
      one_by_one.push_back(matrix.times(input.narrow(0, chosen[i].item<std::int64_t>(), 1)));
    expect_close_per_column(found[0].index_select(0, chosen), at::cat(one_by_one, 0), 1e-5);
  }
}

TEST(BlockMatrix, ManyRowsAreWithinTheirRoundingOfWhatANumberMatrixGives) {
  const c10::InferenceMode inference;
  at::manual_seed(7);
  const Parts parts;
  const BlockMatrix matrix = parts.matrix();
  const at::Tensor numbers = matrix.columns(0, kIn);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const at::Tensor input = at::randn({50, kIn}).to(type);
    const at::Tensor found = matrix.times(input);
    EXPECT_EQ(found.scalar_type(), type);
    expect_close_per_column(found.to(at::kFloat), at::linear(input.to(at::kFloat), numbers), 2e-2);
  }
}

TEST(BlockMatrix, ManyRowsAreNotRoundedWithoutFastProductsOfBytes) {
  const c10::InferenceMode inference;
  at::manual_seed(8);
  const Parts parts;
  const BlockMatrix matrix = test_support::on_a_plain_processor([&] { return parts.matrix(); });
  const at::Tensor input = at::randn({50, kIn});
  expect_close_per_column(matrix.times(input), at::linear(input, matrix.columns(0, kIn)), 1e-5);
}

}  // namespace
}  // namespace winnow
