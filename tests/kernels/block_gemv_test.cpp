// Vectors times matrices in blocks: the vectorised product against the definition, for every type; what is finite and what is not.
#include "kernels/api/block_gemv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/kernels/random_blocks.h"

namespace winnow::kernels {
namespace {

constexpr BlockType kTypes[] = {BlockType::kF32,  BlockType::kF16,  BlockType::kBF16, BlockType::kQ8_0,   BlockType::kQ4_0,
                                BlockType::kQ4_1, BlockType::kQ5_0, BlockType::kQ5_1, BlockType::kQ2_K,   BlockType::kQ3_K,
                                BlockType::kQ4_K, BlockType::kQ5_K, BlockType::kQ6_K, BlockType::kIQ4_NL, BlockType::kIQ4_XS,
                                BlockType::kU4Z,  BlockType::kU8Z};

constexpr std::int64_t kColumns = 768;

TEST(BlockGemv, EqualsTheDefinitionForEveryType) {
  constexpr std::int64_t kRows = 11;  // two groups of rows and a rest
  for (const BlockType type : kTypes) {
    SCOPED_TRACE(static_cast<int>(type));
    const std::vector<std::uint8_t> matrix = random_blocks(type, kRows * kColumns, 3);
    ASSERT_TRUE(finite_blocks(type, matrix.data(), kRows * kColumns / block_elements(type)));
    const std::vector<float> input = random_input(kColumns, 4);
    std::vector<float> expected(kRows, -1.0F);
    std::vector<float> found(kRows, -1.0F);
    BlockGemvArgs args{type, matrix.data(), kColumns, nullptr, 1, kRows, input.data(), expected.data()};
    ASSERT_EQ(block_gemv_reference(args), LaunchStatus::kOk);
    args.output = found.data();
    ASSERT_EQ(block_gemv_cpu(args), LaunchStatus::kOk);
    EXPECT_EQ(found[0], -1.0F) << "outside the range";
    for (std::int64_t row = 1; row < kRows; ++row) {
      std::vector<float> values(kColumns);
      dequantise(type, matrix.data() + row * std::ssize(matrix) / kRows, kColumns, values.data());
      double size = 0.0;
      for (std::size_t i = 0; i < values.size(); ++i) size += std::abs(static_cast<double>(values[i]) * static_cast<double>(input[i]));
      EXPECT_NEAR(found[static_cast<std::size_t>(row)], expected[static_cast<std::size_t>(row)], 2e-6 * size) << "row " << row;
    }
  }
}

// Answers that share a step say what each says alone.
TEST(BlockGemv, SeveralInputsAreEachAsAloneToTheBit) {
  constexpr std::int64_t kRows = 3;
  constexpr std::int64_t kMost = 9;  // one more than are taken together
  for (const BlockType type : kTypes) {
    SCOPED_TRACE(static_cast<int>(type));
    const std::vector<std::uint8_t> matrix = random_blocks(type, kRows * kColumns, 7);
    const std::vector<float> input = random_input(kMost * kColumns, 8);
    for (const auto product : {&block_gemv_reference, &block_gemv_cpu}) {
      std::vector<float> alone(kMost * kRows);
      for (std::int64_t i = 0; i < kMost; ++i) {
        ASSERT_EQ(product({type, matrix.data(), kColumns, nullptr, 0, kRows, input.data() + i * kColumns, alone.data() + i * kRows}),
                  LaunchStatus::kOk);
      }
      for (const std::int64_t inputs : {std::int64_t{2}, kMost}) {
        std::vector<float> together(kMost * kRows);
        ASSERT_EQ(product({type, matrix.data(), kColumns, nullptr, 0, kRows, input.data(), together.data(), inputs, kColumns, kRows}),
                  LaunchStatus::kOk);
        for (std::int64_t i = 0; i < inputs * kRows; ++i)
          EXPECT_EQ(together[static_cast<std::size_t>(i)], alone[static_cast<std::size_t>(i)]) << inputs << ", " << i;
      }
    }
  }
}

TEST(BlockGemv, TakesRowsInAnotherOrder) {
  const std::vector<std::uint8_t> matrix = random_blocks(BlockType::kQ4_1, 6 * kColumns, 5);
  const std::vector<float> input = random_input(kColumns, 6);
  const std::vector<std::int32_t> order = {5, 0, 3, 1, 4, 2};
  std::vector<float> straight(6);
  std::vector<float> ordered(6);
  BlockGemvArgs args{BlockType::kQ4_1, matrix.data(), kColumns, nullptr, 0, 6, input.data(), straight.data()};
  ASSERT_EQ(block_gemv_cpu(args), LaunchStatus::kOk);
  args.row_of = order.data();
  args.output = ordered.data();
  ASSERT_EQ(block_gemv_cpu(args), LaunchStatus::kOk);
  for (std::size_t row = 0; row < order.size(); ++row) {
    const float stored = straight[static_cast<std::size_t>(order[row])];
    EXPECT_NEAR(ordered[row], stored, 1e-4F * std::abs(stored) + 1e-4F);
  }
}

// d = 0.5, codes 0 .. 31 minus 8 of which only two meet an input: 0.5 (2 * 3 - 8 * 1), by hand.
TEST(BlockGemv, ByHand) {
  std::vector<std::uint8_t> block(18, 0x88);  // every code 8: zero
  const std::uint16_t half = 0x3800;
  std::memcpy(block.data(), &half, sizeof half);
  block[2 + 5] = 0x08 | (10 << 4);  // element 5: 8, element 21: 10
  block[2 + 6] = 0x80;              // element 6: 0, element 22: 8
  std::vector<float> input(32, 1.0F);
  input[21] = 3.0F;
  float output = 0.0F;
  const BlockGemvArgs args{BlockType::kQ4_0, block.data(), 32, nullptr, 0, 1, input.data(), &output};
  ASSERT_EQ(block_gemv_cpu(args), LaunchStatus::kOk);
  EXPECT_EQ(output, -1.0F);
  ASSERT_EQ(block_gemv_reference(args), LaunchStatus::kOk);
  EXPECT_EQ(output, -1.0F);
}

TEST(BlockGemv, RefusesWhatDoesNotFit) {
  float value = 0.0F;
  const std::uint8_t matrix[34] = {};
  const BlockGemvArgs good{BlockType::kQ8_0, matrix, 32, nullptr, 0, 1, &value, &value};
  for (const auto change :
       {+[](BlockGemvArgs& args) { args.columns = 33; }, +[](BlockGemvArgs& args) { args.input = nullptr; },
        +[](BlockGemvArgs& args) { args.begin = 2; }, +[](BlockGemvArgs& args) { args.columns = -32; },
        +[](BlockGemvArgs& args) { args.inputs = -1; }, +[](BlockGemvArgs& args) { args.type = static_cast<BlockType>(99); }}) {
    BlockGemvArgs args = good;
    change(args);
    EXPECT_EQ(block_gemv_cpu(args), LaunchStatus::kBadArgument);
    EXPECT_EQ(block_gemv_reference(args), LaunchStatus::kBadArgument);
  }
}

// The last block of 64 gets an infinity, or no number, where it has a scale.
TEST(FiniteBlocks, SeesTheLastScale) {
  for (const BlockType type : kTypes) {
    SCOPED_TRACE(static_cast<int>(type));
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(64 * block_bytes(type)), 0x11);
    EXPECT_TRUE(finite_blocks(type, bytes.data(), 64));
    bool seen = false;
    for (std::size_t at = bytes.size() - static_cast<std::size_t>(block_bytes(type)); at + 1 < bytes.size() && !seen; ++at) {
      std::vector<std::uint8_t> damaged = bytes;
      damaged[at] = type == BlockType::kF32 || type == BlockType::kBF16 ? 0x80 : 0x00;
      damaged[at + 1] = type == BlockType::kF32 || type == BlockType::kBF16 ? 0x7F : 0x7C;
      seen = !finite_blocks(type, damaged.data(), 64);
    }
    EXPECT_TRUE(seen);
  }
}

}  // namespace
}  // namespace winnow::kernels
