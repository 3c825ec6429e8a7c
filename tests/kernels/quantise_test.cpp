#include "kernels/api/quantise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/half.h"
#include "tests/kernels/random_blocks.h"

namespace winnow::kernels {
namespace {

std::vector<float> there_and_back(BlockType type, const std::vector<float>& values) {
  std::vector<std::uint8_t> blocks(values.size() / 32 * static_cast<std::size_t>(block_bytes(type)));
  EXPECT_EQ(quantise({type, values.data(), std::ssize(values), blocks.data()}), LaunchStatus::kOk);
  std::vector<float> back(values.size());
  dequantise(type, blocks.data(), std::ssize(back), back.data());
  return back;
}

TEST(Half, RoundsToTheNearest) {
  EXPECT_EQ(float_to_fp16(1.0F), 0x3C00);
  EXPECT_EQ(float_to_fp16(-2.0F), 0xC000);
  EXPECT_EQ(float_to_fp16(0.0F), 0x0000);
  EXPECT_EQ(float_to_fp16(1.0F + 0x1p-11F), 0x3C00) << "half way, to the even one";
  EXPECT_EQ(float_to_fp16(1.0F + 3 * 0x1p-11F), 0x3C02);
  EXPECT_EQ(float_to_fp16(65504.0F), 0x7BFF);
  EXPECT_EQ(float_to_fp16(65520.0F), 0x7C00);
  EXPECT_EQ(float_to_fp16(1e30F), 0x7C00);
  EXPECT_EQ(float_to_fp16(0x1p-24F), 0x0001);
  EXPECT_EQ(float_to_fp16(0x1p-25F), 0x0000);
  EXPECT_EQ(float_to_fp16(0x1.8p-25F), 0x0001);
  EXPECT_TRUE(std::isnan(fp16_to_float(float_to_fp16(std::numeric_limits<float>::quiet_NaN()))));
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    ASSERT_EQ(float_to_fp16(fp16_to_float(static_cast<std::uint16_t>(bits))), bits);
    ASSERT_EQ(float_to_fp16(-fp16_to_float(static_cast<std::uint16_t>(bits))), bits | 0x8000);
  }
}

// A largest magnitude of 254 makes steps of two; 5 lies half way and goes to the even code.
TEST(Quantise, EightBitsByHand) {
  std::vector<float> values(32, 0.0F);
  values[0] = -254.0F;
  values[1] = 5.0F;
  values[2] = 7.2F;
  const std::vector<float> back = there_and_back(BlockType::kQ8_0, values);
  EXPECT_EQ(back[0], -254.0F);
  EXPECT_EQ(back[1], 4.0F);
  EXPECT_EQ(back[2], 8.0F);
  EXPECT_EQ(back[3], 0.0F);
}

// From -2 to 5.5 in fifteen steps of a half.
TEST(Quantise, FourBitsByHand) {
  std::vector<float> values(32, -2.0F);
  values[1] = 5.5F;
  values[16] = 1.2F;
  values[31] = 0.8F;
  const std::vector<float> back = there_and_back(BlockType::kQ4_1, values);
  EXPECT_EQ(back[0], -2.0F);
  EXPECT_EQ(back[1], 5.5F);
  EXPECT_EQ(back[16], 1.0F);
  EXPECT_EQ(back[31], 1.0F);
}

TEST(Quantise, NoNumberIsFartherThanHalfAStep) {
  const std::vector<float> values = random_input(32 * 300, 1);
  for (const BlockType type : {BlockType::kQ8_0, BlockType::kQ4_1}) {
    const std::vector<float> back = there_and_back(type, values);
    for (std::size_t block = 0; block < values.size(); block += 32) {
      float smallest = values[block];
      float largest = values[block];
      for (std::size_t i = 0; i < 32; ++i) {
        smallest = std::min(smallest, values[block + i]);
        largest = std::max(largest, values[block + i]);
      }
      const float step = type == BlockType::kQ8_0 ? std::max(-smallest, largest) / 127.0F : (largest - smallest) / 15.0F;
      // Scales are rounded to eleven digits, and the last code is fifteen of them away.
      for (std::size_t i = 0; i < 32; ++i) EXPECT_LE(std::abs(back[block + i] - values[block + i]), 0.515F * step + 0.002F);
    }
  }
}

TEST(Quantise, EqualNumbersAndZerosStayWhatTheyAre) {
  for (const BlockType type : {BlockType::kQ8_0, BlockType::kQ4_1}) {
    for (const float value : {0.0F, 0.75F, -3.0F}) {
      for (const float back : there_and_back(type, std::vector<float>(32, value)))
        EXPECT_NEAR(back, value, 1e-3F * std::abs(value)) << static_cast<int>(type);
    }
  }
}

// One number after the other; ties go to the even code, and of equal extremes the first counts.
std::vector<std::uint8_t> as_defined(BlockType type, const float* values) {
  std::vector<std::uint8_t> block(static_cast<std::size_t>(block_bytes(type)));
  const auto store = [&](std::size_t at, float wanted) {
    const std::uint16_t bits = float_to_fp16(wanted);
    block[at] = static_cast<std::uint8_t>(bits & 0xFFU);
    block[at + 1] = static_cast<std::uint8_t>(bits >> 8);
    return fp16_to_float(bits);
  };
  const auto [smallest, largest] = std::minmax_element(values, values + 32);
  const bool eight = type == BlockType::kQ8_0;
  const float offset = eight ? 0.0F : store(2, *smallest);
  const float scale = store(0, eight ? std::max(std::abs(*smallest), std::abs(*largest)) / 127.0F : (*largest - offset) / 15.0F);
  const float steps = scale > 0.0F ? 1.0F / scale : 0.0F;
  for (std::size_t i = 0; i < 32; ++i) {
    const float code = std::clamp(std::nearbyint((values[i] - offset) * steps), eight ? -127.0F : 0.0F, eight ? 127.0F : 15.0F);
    const auto bits = static_cast<std::uint8_t>(static_cast<int>(code));
    if (eight) block[2 + i] = bits;
    if (!eight) block[4 + i % 16] = static_cast<std::uint8_t>(block[4 + i % 16] | bits << (i < 16 ? 0 : 4));
  }
  return block;
}

// Blocks of every size, with halves between two codes, with one large number, and with zeros of both signs.
TEST(Quantise, BytesAreThoseOfTheDefinition) {
  std::vector<float> values = random_input(32 * 4000, 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t block = i / 32;
    values[i] *= std::ldexp(1.0F, static_cast<int>(block % 31) - 28);
    if (block % 4 == 1) values[i] = std::round(values[i] * 8.0F) / 2.0F;
    if (block % 4 == 2 && i % 32 == block % 32) values[i] *= 500.0F;
    if (block % 4 == 3) values[i] = i * i * block % 7 < 3 ? 0.0F : i * i * block % 7 < 5 ? -0.0F : std::abs(values[i]);
  }
  for (const BlockType type : {BlockType::kQ8_0, BlockType::kQ4_1}) {
    for (std::size_t first = 0; first < values.size(); first += 32) {
      std::vector<std::uint8_t> block(static_cast<std::size_t>(block_bytes(type)));
      ASSERT_EQ(quantise({type, &values[first], 32, block.data()}), LaunchStatus::kOk);
      ASSERT_EQ(block, as_defined(type, &values[first])) << "block " << first / 32;
    }
  }
}

TEST(Quantise, RefusesWhatDoesNotFit) {
  std::vector<float> values(32, 1.0F);
  std::uint8_t block[34];
  EXPECT_EQ(quantise({BlockType::kQ8_0, values.data(), 31, block}), LaunchStatus::kBadArgument);
  EXPECT_EQ(quantise({BlockType::kQ8_0, nullptr, 32, block}), LaunchStatus::kBadArgument);
  EXPECT_EQ(quantise({BlockType::kQ6_K, values.data(), 32, block}), LaunchStatus::kUnsupported);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e9F}) {
    values[7] = bad;
    EXPECT_EQ(quantise({BlockType::kQ8_0, values.data(), 32, block}), LaunchStatus::kUnsupported);
    EXPECT_EQ(quantise({BlockType::kQ4_1, values.data(), 32, block}), LaunchStatus::kUnsupported);
  }
}

}  // namespace
}  // namespace winnow::kernels
