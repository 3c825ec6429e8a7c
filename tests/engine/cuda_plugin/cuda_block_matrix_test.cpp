// Matrices in blocks on a GPU against the numbers that they stand for. On the emulated GPU as well (tests/engine/emulated_gpu).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "engine/layers/device_block_matrix.h"
#include "tests/engine/cuda_plugin/cuda_test.h"
#include "tests/kernels/random_blocks.h"
#include "tests/support/expect_error.h"
#include "tests/support/tensor_distance.h"

namespace winnow {
namespace {

using kernels::BlockType;
using test_support::kGpu;
using test_support::relative_distance;

constexpr std::int64_t kIn = 512;

std::vector<std::int32_t> shuffled(std::int64_t count, unsigned seed) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, std::mt19937(seed));
  return order;
}

class CudaBlockMatrix : public test_support::NeedsDevice<::testing::Test> {
 protected:
  // Two parts of a type one below the other, the second in another order of rows; one in another order of columns; one that is alone.
  std::vector<BlockRows> parts() const {
    const auto columns = std::make_shared<const std::vector<std::int32_t>>(shuffled(kIn, 5));
    return {{BlockType::kQ4_0, view(0), 21},
            {BlockType::kQ4_0, view(1), 13, shuffled(13, 1)},
            {BlockType::kQ6_K, view(2), 40, shuffled(40, 2), columns},
            {BlockType::kQ8_0, view(3), 5}};
  }
  static constexpr std::pair<std::int64_t, std::int64_t> kGroups[] = {{0, 34}, {34, 40}, {74, 5}};  // values of each are of a size

  DeviceBlockMatrix on_gpu(at::ScalarType dtype = at::kFloat) const { return DeviceBlockMatrix(parts(), kIn, dtype, kGpu); }
  at::Tensor numbers() const { return BlockMatrix(parts(), kIn, at::kFloat, {}).columns(0, kIn); }

  static void expect_close(const at::Tensor& found, const at::Tensor& expected, double tolerance) {
    ASSERT_EQ(found.sizes(), expected.sizes());
    const at::Tensor back = found.to(at::kCPU).to(at::kFloat);
    for (const auto& [first, count] : kGroups)
      EXPECT_LE(relative_distance(back.narrow(-1, first, count), expected.narrow(-1, first, count)), tolerance) << first;
  }

 private:
  std::span<const std::byte> view(std::size_t part) const { return std::as_bytes(std::span(bytes_[part])); }

  std::vector<std::vector<std::uint8_t>> bytes_ = {
      kernels::random_blocks(BlockType::kQ4_0, 21 * kIn, 2), kernels::random_blocks(BlockType::kQ4_0, 13 * kIn, 3),
      kernels::random_blocks(BlockType::kQ6_K, 40 * kIn, 4), kernels::random_blocks(BlockType::kQ8_0, 5 * kIn, 6)};
};

TEST_F(CudaBlockMatrix, ProductsAreThoseOfItsNumbers) {
  const DeviceBlockMatrix matrix = on_gpu();
  const at::Tensor expected = numbers();
  EXPECT_EQ(matrix.out(), 79);
  EXPECT_EQ(matrix.in(), kIn);
  for (const auto& [type, tolerance] : {std::pair{at::kFloat, 1e-5}, std::pair{at::kBFloat16, 1e-2}, std::pair{at::kHalf, 2e-3}}) {
    for (const std::int64_t rows : {1, 2, 8, 9, 70}) {  // few as they lie, many dequantised
      SCOPED_TRACE(::testing::Message() << rows << " rows of type " << at::toString(type));
      const at::Tensor input = (at::randn({1, rows, kIn}) / 64.0).to(type);  // within fp16
      const at::Tensor found = matrix.times(input.to(kGpu));
      EXPECT_EQ(found.scalar_type(), type);
      expect_close(found, at::linear(input.to(at::kFloat), expected), tolerance);
    }
  }
  EXPECT_EQ(matrix.times(at::empty({0, kIn}, at::TensorOptions(kGpu))).sizes(), at::IntArrayRef({0, 79}));
}

TEST_F(CudaBlockMatrix, RowsAndColumnsAreItsNumbers) {
  const at::Tensor expected = numbers();
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const DeviceBlockMatrix matrix = on_gpu(type);
    EXPECT_TRUE(at::equal(matrix.columns(3, 100).to(at::kCPU), expected.narrow(1, 3, 100).to(type)));
    const at::Tensor ids = at::tensor({78, 0, 40, 21, 0, 73, 74, 33}, at::kLong);
    EXPECT_TRUE(at::equal(matrix.rows(ids).to(at::kCPU), expected.index_select(0, ids).to(type)));
    EXPECT_TRUE(at::equal(matrix.rows(ids.to(kGpu)).to(at::kCPU), expected.index_select(0, ids).to(type)));
    EXPECT_EQ(matrix.rows(ids.narrow(0, 0, 0)).sizes(), at::IntArrayRef({0, kIn}));
  }
}

// Larger than what is laid out at a time, below rows of another matrix.
TEST_F(CudaBlockMatrix, AMatrixIsPutThereInParts) {
  constexpr std::int64_t kRows = 40'000;
  const std::vector<std::uint8_t> large = kernels::random_blocks(BlockType::kQ5_0, kRows * kIn, 7);
  const std::vector<std::uint8_t> small = kernels::random_blocks(BlockType::kQ5_0, 3 * kIn, 8);
  const std::vector<BlockRows> both = {{BlockType::kQ5_0, std::as_bytes(std::span(small)), 3},
                                       {BlockType::kQ5_0, std::as_bytes(std::span(large)), kRows}};
  const at::Tensor ids = at::cat({at::arange(0, kRows + 3, 977), at::tensor({2, 3, 23'833, 23'834, 23'835, 23'836, 23'837}, at::kLong)});
  EXPECT_TRUE(
      at::equal(DeviceBlockMatrix(both, kIn, at::kFloat, kGpu).rows(ids).to(at::kCPU), BlockMatrix(both, kIn, at::kFloat, {}).rows(ids)));
}

// As a slice of a joined product's row does, which is contiguous wherever it begins.
TEST_F(CudaBlockMatrix, InputMayBeginAnywhere) {
  const DeviceBlockMatrix matrix = on_gpu();
  const at::Tensor wide = at::randn({1, kIn + 7});
  for (const std::int64_t first : {1, 3, 4, 7})
    expect_close(matrix.times(wide.to(kGpu).narrow(1, first, kIn)), at::linear(wide.narrow(1, first, kIn), numbers()), 1e-5);
  const at::Tensor every_other = at::randn({3, 2 * kIn});
  expect_close(matrix.times(every_other.to(kGpu).slice(1, 0, 2 * kIn, 2)), at::linear(every_other.slice(1, 0, 2 * kIn, 2), numbers()),
               1e-5);
}

TEST_F(CudaBlockMatrix, HoldsItsBytesAndNoMore) {
  EXPECT_EQ(on_gpu().bytes(), BlockMatrix(parts(), kIn, at::kFloat, {}).bytes());
  const auto on = [&](at::Device device) { return matrix_of_blocks(parts(), kIn, at::kFloat, {}, device); };
  EXPECT_NE(std::dynamic_pointer_cast<const DeviceBlockMatrix>(on(kGpu)), nullptr);
  EXPECT_NE(std::dynamic_pointer_cast<const BlockMatrix>(on(at::kCPU)), nullptr);
}

TEST_F(CudaBlockMatrix, WhatDoesNotFitIsRefused) {
  const DeviceBlockMatrix matrix = on_gpu();
  test::expect_error(ErrorCode::kInternal, "different devices", [&] { matrix.times(at::zeros({1, kIn})); });
  test::expect_error(ErrorCode::kInternal, "no such row", [&] { matrix.rows(at::tensor({3, 79}, at::kLong)); });
  test::expect_error(ErrorCode::kInternal, "no such row", [&] { matrix.rows(at::tensor({-1}, at::kLong)); });
  std::vector<BlockRows> short_of_a_row = parts();
  short_of_a_row[3].rows = 6;
  test::expect_error(ErrorCode::kInternal, "bytes and rows differ", [&] { DeviceBlockMatrix(short_of_a_row, kIn, at::kFloat, kGpu); });
  const std::vector<float> row(12, 1.0F);
  test::expect_error(ErrorCode::kInternal, "whole pieces", [&] {
    DeviceBlockMatrix({{BlockType::kF32, std::as_bytes(std::span(row)), 1}}, 12, at::kFloat, kGpu);
  });
}

}  // namespace
}  // namespace winnow
