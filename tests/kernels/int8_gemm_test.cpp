// Many rows rounded to eight bits, and their products with matrices in blocks: the vectorised forms against the definitions.
#include "kernels/api/int8_gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/reference/check_products.h"
#include "kernels/reference/half.h"
#include "tests/kernels/changed_arguments.h"
#include "tests/kernels/every_target.h"
#include "tests/kernels/random_blocks.h"

namespace winnow::kernels::testing {
namespace {

constexpr BlockType kTypes[] = {BlockType::kQ8_0, BlockType::kQ4_0, BlockType::kQ4_1, BlockType::kQ5_0, BlockType::kQ5_1,
                                BlockType::kQ4_K, BlockType::kQ5_K, BlockType::kQ6_K, BlockType::kU4Z,  BlockType::kU8Z};

using Round = LaunchStatus (*)(const RoundTileArgs&);

std::vector<std::byte> rounded(const std::vector<float>& input, std::int64_t columns, Round round = &round_tile_cpu) {
  const std::int64_t rows = std::ssize(input) / columns;
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  std::vector<std::byte> memory(static_cast<std::size_t>(tiles * int8_tile_bytes(columns)), std::byte{99});
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t first = tile * kTileRows;
    const RoundTileArgs args{input.data() + first * columns, std::min(kTileRows, rows - first), columns,
                             memory.data() + tile * int8_tile_bytes(columns)};
    EXPECT_EQ(round(args), LaunchStatus::kOk);
  }
  return memory;
}

// Two rows of 32: the first has steps of 2, so that 6 is code 3; the second of 1. Rows three and four are not there.
TEST(RoundTile, ByHand) {
  std::vector<float> input(64, 0.0F);
  input[0] = 254.0F;
  input[5] = 6.0F;
  input[32 + 31] = -127.0F;
  for (const Round round : {&round_tile_reference, &round_tile_cpu}) {
    const std::vector<std::byte> tile = rounded(input, 32, round);
    const std::int8_t* const codes = tile_codes(tile.data());
    EXPECT_EQ(codes[0], 127);
    EXPECT_EQ(codes[1 * 16 + 0 * 4 + 1], 3);     // the second four of columns, row 0, their second
    EXPECT_EQ(codes[7 * 16 + 1 * 4 + 3], -127);  // the last four, row 1, their last
    EXPECT_EQ(tile_scales(tile.data(), 32)[0].scale, 2.0F);
    EXPECT_EQ(tile_scales(tile.data(), 32)[0].sum, 260.0F);
    EXPECT_EQ(tile_scales(tile.data(), 32)[1].scale, 1.0F);
    EXPECT_EQ(tile_half_sums(tile.data(), 32)[4 + 1], -127.0F);  // the second sixteen of row 1
    EXPECT_EQ(tile_scales(tile.data(), 32)[3].scale, 0.0F);
  }
}

TEST(RoundTile, EqualsTheDefinitionToTheBit) {
  for (const std::int64_t columns : {32, 256, 352}) {
    std::vector<float> input = random_input(7 * columns, 5);
    input[3] = std::numeric_limits<float>::infinity();
    input[static_cast<std::size_t>(columns) + 9] = std::numeric_limits<float>::quiet_NaN();
    std::fill_n(input.begin() + 2 * columns, 32, -1e-41F);  // too small to be divided by
    const std::vector<std::byte> expected = rounded(input, columns, &round_tile_reference);
    with_every_target([&] {
      const std::vector<std::byte> found = rounded(input, columns);
      EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size()), 0) << columns;
    });
  }
}

// Columns beyond a panel's, rows of the matrix that fill no panel and inputs that fill no tile, in another order and from the middle on.
TEST(Int8Gemm, EqualTheDefinitionForEveryType) {
  constexpr std::int64_t kColumns = 1280;
  constexpr std::int64_t kInputs = 6;
  constexpr std::int64_t kStored = 39;
  constexpr std::int64_t kBegin = 2;
  constexpr std::int64_t kEnd = 37;
  constexpr std::int64_t kStride = 41;
  std::vector<std::int32_t> row_of(kEnd);
  for (std::size_t row = 0; row < row_of.size(); ++row) row_of[row] = static_cast<std::int32_t>(row * 7 % kStored);
  const std::vector<float> input = random_input(kInputs * kColumns, 4);
  const std::vector<std::byte> tiles = rounded(input, kColumns);
  for (const BlockType type : kTypes) {
    SCOPED_TRACE(static_cast<int>(type));
    const std::vector<std::uint8_t> matrix = random_blocks(type, kStored * kColumns, 3);
    std::vector<float> expected(kInputs * kStride, -1.0F);
    std::vector<float> sums(int8_gemm_sums(kInputs));
    Int8GemmArgs args{type,    matrix.data(),   kColumns, row_of.data(),      kBegin,     kEnd, tiles.data(),
                      kInputs, expected.data(), kStride,  ElementType::kFp32, sums.data()};
    ASSERT_EQ(int8_gemm_reference(args), LaunchStatus::kOk);
    with_every_target([&] {
      std::vector<float> found(expected.size(), -1.0F);
      args.output = found.data();
      ASSERT_EQ(int8_gemm_cpu(args), LaunchStatus::kOk);
      for (std::int64_t i = 0; i < kInputs; ++i) {
        for (std::int64_t row = 0; row < kStride; ++row) {
          const auto at = static_cast<std::size_t>(i * kStride + row);
          if (row < kBegin || row >= kEnd) {
            EXPECT_EQ(found[at], -1.0F) << "outside the range";
            continue;
          }
          std::vector<float> values(kColumns);
          const std::int64_t stored = row_of[static_cast<std::size_t>(row)];
          dequantise(type, matrix.data() + stored * std::ssize(matrix) / kStored, kColumns, values.data());
          double size = 0.0;
          for (std::int64_t k = 0; k < kColumns; ++k)
            size += std::abs(static_cast<double>(values[static_cast<std::size_t>(k)]) * input[static_cast<std::size_t>(i * kColumns + k)]);
          // Offsets and codes are summed apart, and each may be larger than what they come to.
          EXPECT_NEAR(found[at], expected[at], 2e-5 * size) << "input " << i << " row " << row;
        }
      }
    });
  }
}

// The same numbers as a decode step's, up to the order of sums.
TEST(Int8Gemm, AgreeWithTheProductOfOneRow) {
  constexpr std::int64_t kColumns = 512;
  constexpr std::int64_t kRows = 24;
  const std::vector<float> input = random_input(kColumns, 11);
  const std::vector<std::byte> tile = rounded(input, kColumns);
  std::vector<std::int8_t> codes(kColumns);
  std::vector<QuantisedScale> scales(kColumns / 32);
  std::vector<float> half_sums(kColumns / 16);
  std::vector<std::int8_t> paired(kColumns);
  ASSERT_EQ(round_input_cpu({input.data(), kColumns, codes.data(), scales.data(), half_sums.data(), paired.data()}), LaunchStatus::kOk);
  for (const BlockType type : kTypes) {
    SCOPED_TRACE(static_cast<int>(type));
    const std::vector<std::uint8_t> matrix = random_blocks(type, kRows * kColumns, 12);
    std::vector<float> one(kRows);
    std::vector<float> many(kRows);
    std::vector<float> sums(int8_gemm_sums(1));
    const QuantisedInput row{codes.data(), scales.data(), half_sums.data(), paired.data()};
    ASSERT_EQ(int8_gemv_cpu({type, matrix.data(), kColumns, nullptr, 0, kRows, row, one.data()}), LaunchStatus::kOk);
    ASSERT_EQ(int8_gemm_cpu(
                  {type, matrix.data(), kColumns, nullptr, 0, kRows, tile.data(), 1, many.data(), kRows, ElementType::kFp32, sums.data()}),
              LaunchStatus::kOk);
    const float largest = std::abs(*std::ranges::max_element(one, {}, [](float value) { return std::abs(value); }));
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(many[i], one[i], 1e-4F * largest) << i;
  }
}

// Outputs in 16 bits are those in 32, rounded; without columns they are zeros.
TEST(Int8Gemm, WriteEveryElementType) {
  constexpr std::int64_t kColumns = 1024;
  constexpr std::int64_t kRows = 33;
  constexpr std::int64_t kInputs = 5;
  const std::vector<std::byte> tiles = rounded(random_input(kInputs * kColumns, 8), kColumns);
  const std::vector<std::uint8_t> matrix = random_blocks(BlockType::kQ8_0, kRows * kColumns, 9);
  std::vector<float> sums(int8_gemm_sums(kInputs));
  const auto product = [&](const auto& call, void* output, ElementType type, std::int64_t columns) {
    return call({BlockType::kQ8_0, matrix.data(), columns, nullptr, 0, kRows, tiles.data(), kInputs, output, kRows, type, sums.data()});
  };
  for (const auto call : {&int8_gemm_reference, &int8_gemm_cpu}) {
    with_every_target([&] {
      std::vector<float> whole(kInputs * kRows);
      ASSERT_EQ(product(*call, whole.data(), ElementType::kFp32, kColumns), LaunchStatus::kOk);
      for (const ElementType type : {ElementType::kBf16, ElementType::kFp16}) {
        std::vector<std::uint16_t> narrow(whole.size());
        ASSERT_EQ(product(*call, narrow.data(), type, kColumns), LaunchStatus::kOk);
        for (std::size_t i = 0; i < whole.size(); ++i) {
          ASSERT_EQ(narrow[i], type == ElementType::kBf16 ? float_to_bf16(whole[i]) : float_to_fp16(whole[i])) << i;
        }
      }
      ASSERT_EQ(product(*call, whole.data(), ElementType::kFp32, 0), LaunchStatus::kOk);
      EXPECT_EQ(whole, std::vector<float>(whole.size(), 0.0F));
    });
  }
}

// The codes at their ends: what sums in 16 bits must hold.
TEST(Int8Gemm, TheLargestCodesDoNotOverflow) {
  struct Case {
    BlockType type;
    std::size_t scale_bytes;
    std::uint8_t byte;
    float value;
  };
  const std::uint16_t one = 0x3C00;
  for (const Case& c :
       {Case{BlockType::kQ8_0, 2, 0x7F, 127.0F}, Case{BlockType::kQ8_0, 2, 0x80, -128.0F}, Case{BlockType::kQ4_0, 2, 0xFF, 7.0F},
        Case{BlockType::kQ4_0, 2, 0x00, -8.0F}, Case{BlockType::kU4Z, 4, 0xFF, 15.0F}, Case{BlockType::kU8Z, 4, 0xFF, 255.0F},
        Case{BlockType::kQ5_0, 2, 0xFF, 15.0F}}) {
    std::vector<std::uint8_t> block(static_cast<std::size_t>(block_bytes(c.type)), c.byte);
    std::memset(block.data(), 0, c.scale_bytes);
    std::memcpy(block.data(), &one, sizeof one);
    for (const float sign : {1.0F, -1.0F}) {
      const std::vector<std::byte> tile = rounded(std::vector<float>(32, sign * 127.0F), 32);
      with_every_target([&] {
        float output = 0.0F;
        float sums[int8_gemm_sums(1)];
        ASSERT_EQ(int8_gemm_cpu({c.type, block.data(), 32, nullptr, 0, 1, tile.data(), 1, &output, 1, ElementType::kFp32, sums}),
                  LaunchStatus::kOk);
        EXPECT_EQ(output, sign * 32.0F * 127.0F * c.value) << static_cast<int>(c.type);
      });
    }
  }
}

TEST(Int8Gemm, WhatIsNotFiniteStaysSoInItsRow) {
  std::vector<float> input = random_input(3 * 64, 6);
  input[64 + 40] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::byte> tile = rounded(input, 64);
  const std::vector<std::uint8_t> matrix = random_blocks(BlockType::kQ4_0, 64, 7);
  with_every_target([&] {
    float output[3];
    float sums[int8_gemm_sums(3)];
    ASSERT_EQ(int8_gemm_cpu({BlockType::kQ4_0, matrix.data(), 64, nullptr, 0, 1, tile.data(), 3, output, 1, ElementType::kFp32, sums}),
              LaunchStatus::kOk);
    EXPECT_TRUE(std::isfinite(output[0]) && std::isnan(output[1]) && std::isfinite(output[2]));
  });
}

TEST(Int8Gemm, BadArgumentsAreRefused) {
  std::byte tile[int8_tile_bytes(32)] = {};
  float row[32] = {};
  float output[2] = {};
  float sums[int8_gemm_sums(1)];
  for (const Round round : {&round_tile_reference, &round_tile_cpu}) {
    EXPECT_EQ(round({nullptr, 1, 32, tile}), kBad);
    EXPECT_EQ(round({row, 0, 32, tile}), kBad);
    EXPECT_EQ(round({row, 5, 32, tile}), kBad);
    EXPECT_EQ(round({row, 1, 31, tile}), kBad);
    EXPECT_EQ(round({row, 1, 32, nullptr}), kBad);
  }
  const std::vector<std::uint8_t> matrix = random_blocks(BlockType::kQ4_0, 64, 7);
  const Int8GemmArgs good{BlockType::kQ4_0, matrix.data(), 32, nullptr, 0, 2, tile, 1, output, 2, ElementType::kFp32, sums};
  const ChangedArguments expect(good, {&int8_gemm_reference, &int8_gemm_cpu});
  expect(kOk, [](auto&) {});
  expect.needs(&Int8GemmArgs::tiles, &Int8GemmArgs::sums);
  expect(kBad, [](auto& args) { args.stride = 1; });
  expect(kBad, [](auto& args) { args.type = BlockType::kIQ4_NL; });
  expect(kBad, [](auto& args) { args.columns = 16; });
  expect(kBad, [](auto& args) { args.output_type = static_cast<ElementType>(0); });
}

}  // namespace
}  // namespace winnow::kernels::testing
