// Inputs rounded to eight bits, and their products with matrices in blocks: the vectorised forms against the definitions.
#include "kernels/api/int8_gemv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/kernels/every_target.h"
#include "tests/kernels/random_blocks.h"

namespace winnow::kernels::testing {
namespace {

constexpr BlockType kTypes[] = {BlockType::kQ8_0, BlockType::kQ4_0, BlockType::kQ4_1, BlockType::kQ5_0, BlockType::kQ5_1,
                                BlockType::kQ4_K, BlockType::kQ5_K, BlockType::kQ6_K, BlockType::kU4Z,  BlockType::kU8Z};
constexpr std::int64_t kColumns = 768;

struct Rounded {
  explicit Rounded(const std::vector<float>& input, LaunchStatus (*round)(const RoundInputArgs&) = &round_input_cpu)
      : codes(input.size(), 99), scales(input.size() / 32), half_sums(input.size() / 16, -1.0F), paired(input.size(), 99) {
    EXPECT_EQ(round({input.data(), std::ssize(input), codes.data(), scales.data(), half_sums.data(), paired.data()}), LaunchStatus::kOk);
  }
  QuantisedInput view() const { return {codes.data(), scales.data(), half_sums.data(), paired.data()}; }
  std::vector<std::int8_t> codes;
  std::vector<QuantisedScale> scales;
  std::vector<float> half_sums;
  std::vector<std::int8_t> paired;
};

// Largest magnitude 254: a step is 2, 5 lies half way between codes 2 and 3 and goes to the even one, 7 to 4.
TEST(RoundInput, ByHand) {
  std::vector<float> input(32, 0.0F);
  input[0] = -254.0F;
  input[1] = 5.0F;
  input[16] = 7.0F;
  const Rounded rounded(input);
  EXPECT_EQ(rounded.scales[0].scale, 2.0F);
  EXPECT_EQ(rounded.codes[0], -127);
  EXPECT_EQ(rounded.codes[1], 2);
  EXPECT_EQ(rounded.codes[16], 4);
  EXPECT_EQ(rounded.half_sums[0], -250.0F);
  EXPECT_EQ(rounded.half_sums[1], 8.0F);
  EXPECT_EQ(rounded.scales[0].sum, -242.0F);
}

TEST(RoundInput, EqualsTheDefinitionToTheBit) {
  std::vector<float> input = random_input(kColumns, 7);
  for (std::size_t i = 0; i < 32; ++i) input[i] = 0.0F;
  for (std::size_t i = 32; i < 64; ++i) input[i] *= 1e-44F;  // the step has no inverse
  for (std::size_t i = 64; i < 96; ++i) input[i] *= 1e30F;
  const Rounded expected(input, &round_input_reference);
  with_every_target([&] {
    const Rounded found(input);
    EXPECT_EQ(found.codes, expected.codes);
    EXPECT_EQ(found.paired, expected.paired);
    EXPECT_EQ(found.half_sums, expected.half_sums);
    for (std::size_t i = 0; i < found.scales.size(); ++i) {
      EXPECT_EQ(found.scales[i].scale, expected.scales[i].scale) << i;
      EXPECT_EQ(found.scales[i].sum, expected.scales[i].sum) << i;
    }
  });
}

// Codes 0 to 95: the second and third 16 of the first 64 change places; half of 64 has no pair.
TEST(RoundInput, PairsBlocks) {
  std::vector<float> input(96, 127.0F);
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (i % 32 != 31) input[i] = static_cast<float>(i);
  }
  for (const auto round : {&round_input_reference, &round_input_cpu}) {
    const Rounded rounded(input, round);
    EXPECT_EQ(rounded.paired[15], 15);
    EXPECT_EQ(rounded.paired[16], 32);
    EXPECT_EQ(rounded.paired[32], 16);
    EXPECT_EQ(rounded.paired[62], 62);
    EXPECT_EQ(rounded.paired[64], 99) << "not written";
  }
}

TEST(RoundInput, WhatIsNotFiniteStaysSo) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    std::vector<float> input = random_input(96, 8);
    input[40] = value;
    for (const auto round : {&round_input_reference, &round_input_cpu}) {
      const Rounded rounded(input, round);
      EXPECT_FALSE(std::isnan(rounded.scales[0].scale));
      EXPECT_TRUE(std::isnan(rounded.scales[1].scale) && std::isnan(rounded.scales[1].sum));
      EXPECT_TRUE(std::isnan(rounded.half_sums[2]) && std::isnan(rounded.half_sums[3]));
      EXPECT_EQ(rounded.codes[40], 0);
      EXPECT_FALSE(std::isnan(rounded.scales[2].scale));
    }
  }
}

TEST(Int8Gemv, EqualsTheDefinitionForEveryType) {
  constexpr std::int64_t kMany = 11;  // two groups of rows and a rest
  for (const BlockType type : kTypes) {
    SCOPED_TRACE(static_cast<int>(type));
    ASSERT_TRUE(has_int8_gemv(type));
    const std::vector<std::uint8_t> matrix = random_blocks(type, kMany * kColumns, 3);
    const std::vector<float> input = random_input(kColumns, 4);
    const Rounded rounded(input);
    std::vector<float> expected(kMany, -1.0F);
    std::vector<float> found(kMany, -1.0F);
    Int8GemvArgs args{type, matrix.data(), kColumns, nullptr, 1, kMany, rounded.view(), expected.data()};
    ASSERT_EQ(int8_gemv_reference(args), LaunchStatus::kOk);
    args.output = found.data();
    with_every_target([&] {
      ASSERT_EQ(int8_gemv_cpu(args), LaunchStatus::kOk);
      EXPECT_EQ(found[0], -1.0F) << "outside the range";
      for (std::int64_t row = 1; row < kMany; ++row) {
        std::vector<float> values(kColumns);
        dequantise(type, matrix.data() + row * std::ssize(matrix) / kMany, kColumns, values.data());
        double size = 0.0;
        for (std::size_t i = 0; i < values.size(); ++i) size += std::abs(static_cast<double>(values[i]) * static_cast<double>(input[i]));
        // Offsets and codes are summed apart, and each may be larger than what they come to.
        EXPECT_NEAR(found[static_cast<std::size_t>(row)], expected[static_cast<std::size_t>(row)], 2e-5 * size) << "row " << row;
        found[static_cast<std::size_t>(row)] = -1.0F;
      }
    });
  }
}

// Blocks are taken four or two at a time.
TEST(Int8Gemv, TakesAnyNumberOfBlocks) {
  for (const BlockType type : kTypes) {
    if (block_elements(type) != 32) continue;
    for (std::int64_t columns = 32; columns <= 9 * 32; columns += 32) {
      SCOPED_TRACE(::testing::Message() << static_cast<int>(type) << ", " << columns);
      const std::vector<std::uint8_t> matrix = random_blocks(type, columns, 9);
      const Rounded rounded(random_input(columns, 10));
      float expected = 0.0F;
      Int8GemvArgs args{type, matrix.data(), columns, nullptr, 0, 1, rounded.view(), &expected};
      ASSERT_EQ(int8_gemv_reference(args), LaunchStatus::kOk);
      with_every_target([&] {
        float found = 0.0F;
        args.output = &found;
        ASSERT_EQ(int8_gemv_cpu(args), LaunchStatus::kOk);
        EXPECT_NEAR(found, expected, 1e-4F * (1.0F + std::abs(expected)));
      });
    }
  }
}

// The codes at their ends, which a sum of two products in 16 bits would not hold without their sign, alone and four blocks together.
TEST(Int8Gemv, TheLargestCodesDoNotOverflow) {
  for (const int code : {127, -128}) {
    for (const std::int64_t blocks : {1, 5}) {
      std::vector<std::uint8_t> matrix(static_cast<std::size_t>(34 * blocks), static_cast<std::uint8_t>(code));
      const std::uint16_t one = 0x3C00;
      for (std::int64_t block = 0; block < blocks; ++block) std::memcpy(matrix.data() + 34 * block, &one, sizeof one);
      for (const float sign : {1.0F, -1.0F}) {
        const Rounded rounded(std::vector<float>(static_cast<std::size_t>(32 * blocks), sign * 127.0F));
        with_every_target([&] {
          float output = 0.0F;
          ASSERT_EQ(int8_gemv_cpu({BlockType::kQ8_0, matrix.data(), 32 * blocks, nullptr, 0, 1, rounded.view(), &output}),
                    LaunchStatus::kOk);
          EXPECT_EQ(output, sign * 127.0F * static_cast<float>(32 * blocks * code)) << code << ", " << blocks;
        });
      }
    }
  }
}

// Answers that share a step say what each says alone. Seven inputs are taken as four, two and one; blocks as fours, pairs and one.
TEST(Int8Gemv, SeveralInputsAreEachAsAloneToTheBit) {
  constexpr std::int64_t kRows = 3;
  constexpr std::int64_t kMost = 7;
  for (const BlockType type : kTypes) {
    const std::int64_t columns = block_elements(type) == 32 ? 7 * 32 : 512;
    SCOPED_TRACE(static_cast<int>(type));
    const std::vector<std::uint8_t> matrix = random_blocks(type, kRows * columns, 7);
    const std::vector<float> all = random_input(kMost * columns, 8);
    // What an input has is as far from the next one's as the largest of it takes.
    const std::int64_t bytes = columns;
    std::vector<std::byte> memory(static_cast<std::size_t>(4 * kMost * bytes));
    const auto place = [&](std::int64_t part, std::int64_t input) { return memory.data() + (part * kMost + input) * bytes; };
    for (std::int64_t i = 0; i < kMost; ++i) {
      const Rounded rounded({all.begin() + i * columns, all.begin() + (i + 1) * columns});
      std::memcpy(place(0, i), rounded.codes.data(), rounded.codes.size());
      std::memcpy(place(1, i), rounded.scales.data(), rounded.scales.size() * sizeof(QuantisedScale));
      std::memcpy(place(2, i), rounded.half_sums.data(), rounded.half_sums.size() * sizeof(float));
      std::memcpy(place(3, i), rounded.paired.data(), rounded.paired.size());
    }
    const auto input_of = [&](std::int64_t i) {
      return QuantisedInput{reinterpret_cast<const std::int8_t*>(place(0, i)), reinterpret_cast<const QuantisedScale*>(place(1, i)),
                            reinterpret_cast<const float*>(place(2, i)), reinterpret_cast<const std::int8_t*>(place(3, i))};
    };
    for (const auto product : {&int8_gemv_reference, &int8_gemv_cpu}) {
      with_every_target([&] {
        std::vector<float> alone(kMost * kRows);
        for (std::int64_t i = 0; i < kMost; ++i) {
          ASSERT_EQ(product({type, matrix.data(), columns, nullptr, 0, kRows, input_of(i), alone.data() + i * kRows}), LaunchStatus::kOk);
        }
        for (std::int64_t inputs = 1; inputs <= kMost; ++inputs) {
          std::vector<float> together(kMost * kRows);
          ASSERT_EQ(product({type, matrix.data(), columns, nullptr, 0, kRows, input_of(0), together.data(), inputs, bytes, kRows}),
                    LaunchStatus::kOk);
          for (std::int64_t i = 0; i < inputs * kRows; ++i)
            EXPECT_EQ(together[static_cast<std::size_t>(i)], alone[static_cast<std::size_t>(i)]) << inputs << ", " << i;
        }
      });
    }
  }
}

TEST(Int8Gemv, TakesRowsInAnotherOrder) {
  const std::vector<std::uint8_t> matrix = random_blocks(BlockType::kQ4_1, 6 * kColumns, 5);
  const Rounded rounded(random_input(kColumns, 6));
  const std::vector<std::int32_t> order = {5, 0, 3, 1, 4, 2};
  std::vector<float> straight(6);
  std::vector<float> ordered(6);
  Int8GemvArgs args{BlockType::kQ4_1, matrix.data(), kColumns, nullptr, 0, 6, rounded.view(), straight.data()};
  ASSERT_EQ(int8_gemv_cpu(args), LaunchStatus::kOk);
  args.row_of = order.data();
  args.output = ordered.data();
  ASSERT_EQ(int8_gemv_cpu(args), LaunchStatus::kOk);
  for (std::size_t row = 0; row < order.size(); ++row) {
    const float stored = straight[static_cast<std::size_t>(order[row])];
    EXPECT_NEAR(ordered[row], stored, 1e-4F * std::abs(stored) + 1e-4F);
  }
}

TEST(Int8Gemv, RefusesWhatDoesNotFit) {
  float value = 0.0F;
  std::int8_t code = 0;
  QuantisedScale scale;
  const std::uint8_t matrix[34] = {};
  const Int8GemvArgs good{BlockType::kQ8_0, matrix, 32, nullptr, 0, 1, {&code, &scale, &value, &code}, &value};
  for (const auto change : {+[](Int8GemvArgs& args) { args.columns = 33; }, +[](Int8GemvArgs& args) { args.input.half_sums = nullptr; },
                            +[](Int8GemvArgs& args) { args.begin = 2; }, +[](Int8GemvArgs& args) { args.type = BlockType::kF32; },
                            +[](Int8GemvArgs& args) { args.inputs = -1; }}) {
    Int8GemvArgs args = good;
    change(args);
    EXPECT_EQ(int8_gemv_cpu(args), LaunchStatus::kBadArgument);
    EXPECT_EQ(int8_gemv_reference(args), LaunchStatus::kBadArgument);
  }
  EXPECT_EQ(round_input_cpu({&value, 31, &code, &scale, &value, &code}), LaunchStatus::kBadArgument);
}

}  // namespace
}  // namespace winnow::kernels::testing
