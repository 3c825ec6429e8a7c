#include "kernels/api/narrow_rows.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/reference/element.h"
#include "kernels/reference/half.h"

namespace winnow::kernels {
namespace {

struct Narrow {
  std::vector<std::int8_t> codes;
  std::vector<float> scales;
};

Narrow narrow(const std::vector<float>& values, std::int64_t rows) {
  const auto length = static_cast<std::int64_t>(values.size()) / rows;
  Narrow result{std::vector<std::int8_t>(values.size(), 99), std::vector<float>(static_cast<std::size_t>(rows), -7.0F)};
  NarrowRowsArgs args{.values = values.data(),
                      .value_stride = length,
                      .rows = rows,
                      .length = length,
                      .codes = result.codes.data(),
                      .scales = result.scales.data()};
  EXPECT_EQ(narrow_rows(args), LaunchStatus::kOk);
  return result;
}

std::vector<float> upcast(const Narrow& narrow) {
  std::vector<float> values(narrow.codes.size(), -7.0F);
  DequantiseRowsArgs args{
      .codes = narrow.codes.data(), .scales = narrow.scales.data(), .rows = static_cast<std::int64_t>(narrow.scales.size())};
  args.length = static_cast<std::int64_t>(narrow.codes.size()) / args.rows;
  args.values = values.data();
  args.value_stride = args.length;
  EXPECT_EQ(dequantise_rows(args), LaunchStatus::kOk);
  return values;
}

// The largest magnitude is 254: a step is 2. 3 and 5 lie between two codes and go to the even one.
TEST(NarrowRows, RoundsToTheNearestOf255Steps) {
  const Narrow rows = narrow({254.0F, -254.0F, 3.0F, 5.0F, -1.0F, 100.9F, 0.0F, -7.2F}, 1);
  EXPECT_EQ(rows.scales, std::vector<float>{2.0F});
  EXPECT_EQ(rows.codes, (std::vector<std::int8_t>{127, -127, 2, 2, 0, 50, 0, -4}));
  EXPECT_EQ(upcast(rows), (std::vector<float>{254.0F, -254.0F, 4.0F, 4.0F, 0.0F, 100.0F, 0.0F, -8.0F}));
}

TEST(NarrowRows, EveryRowHasItsOwnScale) {
  const Narrow rows = narrow({127.0F, 1.0F, 0.0F, -0.0F, -31.75F, 0.25F}, 3);
  EXPECT_EQ(rows.scales, (std::vector<float>{1.0F, 0.0F, 0.25F}));
  EXPECT_EQ(rows.codes, (std::vector<std::int8_t>{127, 1, 0, 0, -127, 1}));
  EXPECT_EQ(upcast(rows), (std::vector<float>{127.0F, 1.0F, 0.0F, 0.0F, -31.75F, 0.25F}));
}

TEST(NarrowRows, ScalesAreTheLargestMagnitudeIn127Steps) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 1000; ++i) {
    const float largest = std::exp(8.0F * normal(random));
    const Narrow row = narrow({0.3F * largest, -largest}, 1);
    EXPECT_NEAR(row.scales[0], largest / 127.0F, largest / 127.0F * std::ldexp(1.0F, -17));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(row.scales[0]) & 0x7FU, 0U) << "17 bits, so that codes times it are exact";
    EXPECT_EQ(row.codes[1], -127);
  }
}

TEST(NarrowRows, NoNumberIsOffByMoreThanHalfAStep) {
  std::mt19937 random(6);
  std::normal_distribution<float> normal;
  std::vector<float> values(64 * 100);
  for (float& value : values) value = normal(random);
  const Narrow rows = narrow(values, 100);
  const std::vector<float> values_read = upcast(rows);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_LE(std::abs(values_read[i] - values[i]), 0.5001F * rows.scales[i / 64]) << i;
}

// What was read of a cache, in any type that a model computes in, is stored again as it was.
TEST(NarrowRows, RoundingWhatWasRoundedChangesNothing) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16}) {
    for (int i = 0; i < 2000; ++i) {
      const std::int64_t length = 1 + static_cast<std::int64_t>(random() % 128);
      const float size = std::exp2(static_cast<float>(random() % 12) - 6.0F);
      std::vector<float> memory(static_cast<std::size_t>(length));  // of elements of any type
      for (std::int64_t e = 0; e < length; ++e) set_element(memory.data(), type, e, size * normal(random));
      std::vector<std::int8_t> codes[2] = {std::vector<std::int8_t>(memory.size()), std::vector<std::int8_t>(memory.size())};
      float scales[2];
      for (int round = 0; round < 2; ++round) {
        const NarrowRowsArgs there{type, memory.data(), length, 1, length, codes[round].data(), &scales[round]};
        ASSERT_EQ(narrow_rows(there), LaunchStatus::kOk);
        const DequantiseRowsArgs back{codes[round].data(), &scales[round], 1, length, type, memory.data(), length};
        ASSERT_EQ(dequantise_rows(back), LaunchStatus::kOk);
      }
      ASSERT_EQ(codes[0], codes[1]) << "type " << static_cast<int>(type) << " row " << i;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(scales[0]), std::bit_cast<std::uint32_t>(scales[1]));
    }
  }
}

// The first row is 254 and -10 beside its offset: a step is 2. The second one's offset is no part of it, the third one's too small a part.
TEST(NarrowRows, AreStoredWithoutAnOffsetThatIsMostOfThem) {
  const std::vector<float> values = {554.0F, -10.0F, 12.7F, 1.0F, 127.0F, 1.0F};
  const std::vector<float> offsets = {300.0F, 0.0F, 300.0F, 0.0F, 20.0F, 0.0F};
  std::vector<std::int8_t> codes(6);
  std::vector<float> scales(3);
  std::vector<std::uint8_t> taken(3, 9);
  NarrowRowsArgs args{ElementType::kFp32, values.data(), 2, 3, 2, codes.data(), scales.data(), offsets.data(), taken.data()};
  ASSERT_EQ(narrow_rows(args), LaunchStatus::kOk);
  EXPECT_EQ(taken, (std::vector<std::uint8_t>{1, 0, 0}));
  EXPECT_EQ(codes, (std::vector<std::int8_t>{127, -5, 127, 10, 127, 1}));
  EXPECT_EQ(scales[0], 2.0F);
  EXPECT_EQ(scales[2], 1.0F);

  std::vector<float> read(6);
  const std::vector<float> added = {300.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F};
  ASSERT_EQ(dequantise_rows({codes.data(), scales.data(), 3, 2, ElementType::kFp32, read.data(), 2, added.data()}), LaunchStatus::kOk);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(read[i], values[i], 1e-4F) << i;

  args.taken = nullptr;
  EXPECT_EQ(narrow_rows(args), LaunchStatus::kBadArgument) << "nobody would know which rows lack it";
}

// Nothing of it is lost on the way: added in fp32, rounded once.
TEST(NarrowRows, AddsAnOffsetBeforeRoundingToTheType) {
  const std::int8_t code = 127;
  const float scale = 0.25F / 127.0F, offset = 256.0F;
  std::uint16_t read = 0;
  ASSERT_EQ(dequantise_rows({&code, &scale, 1, 1, ElementType::kBf16, &read, 1, &offset}), LaunchStatus::kOk);
  EXPECT_EQ(bf16_to_float(read), 256.0F) << "bf16 has steps of 2 there";
}

TEST(NarrowRows, ARowThatIsNotFiniteKeepsItsOffset) {
  const float values[] = {std::nanf(""), 300.0F};
  const float offsets[] = {0.0F, 300.0F};
  std::int8_t codes[2];
  float scale = 0.0F;
  std::uint8_t taken = 9;
  ASSERT_EQ(narrow_rows({ElementType::kFp32, values, 2, 1, 2, codes, &scale, offsets, &taken}), LaunchStatus::kOk);
  EXPECT_EQ(taken, 0);
  EXPECT_TRUE(std::isnan(scale));
}

TEST(NarrowRows, WhatIsNotFiniteShows) {
  for (const float damage : {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    const Narrow rows = narrow({1.0F, damage, 2.0F, 1.0F, 2.0F, 127.0F}, 2);
    EXPECT_TRUE(std::isnan(rows.scales[0]));
    EXPECT_EQ(rows.scales[1], 1.0F);
    const std::vector<float> values_read = upcast(rows);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(values_read[static_cast<std::size_t>(i)]));
    EXPECT_EQ(values_read[5], 127.0F);
  }
}

TEST(NarrowRows, TheSmallestAndTheLargestNumbersHaveCodes) {
  for (const float value : {std::numeric_limits<float>::max(), std::numeric_limits<float>::min()}) {
    const Narrow row = narrow({value, -value, 0.0F}, 1);
    EXPECT_EQ(row.codes, (std::vector<std::int8_t>{127, -127, 0}));
    EXPECT_NEAR(upcast(row)[0] / value, 1.0F, 1e-4F);
  }
  const Narrow least = narrow({std::numeric_limits<float>::denorm_min(), 0.0F}, 1);  // less than a step can be
  EXPECT_EQ(upcast(least), (std::vector<float>{0.0F, 0.0F}));
}

TEST(NarrowRows, RefusesBadArguments) {
  const std::vector<float> values(8, 1.0F);
  std::vector<std::int8_t> codes(8);
  float scale = 0.0F;
  const NarrowRowsArgs good{ElementType::kFp32, values.data(), 8, 1, 8, codes.data(), &scale};
  const auto status = [&](auto change) {
    NarrowRowsArgs args = good;
    change(args);
    return narrow_rows(args);
  };
  EXPECT_EQ(status([](auto&) {}), LaunchStatus::kOk);
  EXPECT_EQ(status([](auto& a) { a.values = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& a) { a.codes = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& a) { a.scales = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& a) { a.rows = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& a) { a.length = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& a) { a.type = static_cast<ElementType>(9); }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& a) { a.length = kMaxHeadDim + 1; }), LaunchStatus::kUnsupported);
  DequantiseRowsArgs back{codes.data(), &scale, 1, kMaxHeadDim + 1, ElementType::kFp32, const_cast<float*>(values.data()), 8};
  EXPECT_EQ(dequantise_rows(back), LaunchStatus::kUnsupported);
  back.codes = nullptr;
  EXPECT_EQ(dequantise_rows(back), LaunchStatus::kBadArgument);
}

// Rows in 4 bits: bytes of codes and bits of scales.
struct Four {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint16_t> scales;
};

Four in_four_bits(const std::vector<float>& row) {
  const auto length = static_cast<std::int64_t>(row.size());
  Four result{std::vector<std::uint8_t>(static_cast<std::size_t>(code_bytes(RowCodes::kInt4, length)), 99),
              std::vector<std::uint16_t>(static_cast<std::size_t>(scale_bytes(RowCodes::kInt4, length) / 2), 99)};
  EXPECT_EQ(narrow_rows({.values = row.data(),
                         .value_stride = length,
                         .rows = 1,
                         .length = length,
                         .codes = result.codes.data(),
                         .scales = result.scales.data(),
                         .form = RowCodes::kInt4}),
            LaunchStatus::kOk);
  return result;
}

std::vector<float> upcast(const Four& four, std::size_t length) {
  std::vector<float> row(length, -7.0F);
  EXPECT_EQ(dequantise_rows({.codes = four.codes.data(),
                             .scales = four.scales.data(),
                             .rows = 1,
                             .length = static_cast<std::int64_t>(length),
                             .values = row.data(),
                             .value_stride = static_cast<std::int64_t>(length),
                             .form = RowCodes::kInt4}),
            LaunchStatus::kOk);
  return row;
}

// Hadamard's matrix of four over 2: (1, 1, 1, 1), (1, -1, 1, -1), (1, 1, -1, -1), (1, -1, -1, 1).
TEST(NarrowRows, FourBitsAreOfTheRotatedRowByHand) {
  // (24, 8, 0, 0) is (16, 8, 16, 8) rotated. A step is 16 / -8: codes (-8, -4, -8, -4), and 8 more (0, 4, 0, 4): bytes of elements 0 and 2,
  // 1 and 3.
  const Four rows = in_four_bits({24.0F, 8.0F, 0.0F, 0.0F});
  EXPECT_EQ(rows.scales, std::vector<std::uint16_t>{float_to_bf16(-2.0F)});
  EXPECT_EQ(rows.codes, (std::vector<std::uint8_t>{0x00, 0x44}));
  EXPECT_EQ(upcast(rows, 4), (std::vector<float>{24.0F, 8.0F, 0.0F, 0.0F}));
  // (2, 3) of two numbers is (5, -1) over the square root of 2: codes -8 and 2 (1.6 rounded).
  const Four two = in_four_bits({2.0F, 3.0F});
  EXPECT_EQ(two.codes, std::vector<std::uint8_t>{0xA0});
}

TEST(NarrowRows, ARotationKeepsProductsAndIsItsOwnInverse) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  for (const std::int64_t length : {1, 2, 7, 64, 80, 96, 128, 512}) {
    std::vector<float> a(static_cast<std::size_t>(length));
    std::vector<float> b(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = normal(random);
      b[i] = normal(random);
    }
    const auto product = [](const std::vector<float>& x, const std::vector<float>& y) {
      return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
    };
    std::vector<float> turned_a = a;
    std::vector<float> turned_b = b;
    rotate_row(turned_a.data(), length);
    rotate_row(turned_b.data(), length);
    EXPECT_NEAR(product(turned_a, turned_b), product(a, b), 1e-5 * std::sqrt(product(a, a) * product(b, b)));
    rotate_row(turned_a.data(), length);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(turned_a[i], a[i], 1e-5F);
  }
}

TEST(NarrowRows, RoundingFourBitsAgainChangesNothing) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const std::size_t length : {1U, 7U, 32U, 64U, 80U, 128U}) {
    for (int round = 0; round < 50; ++round) {
      std::vector<float> row(length);
      for (float& x : row) x = std::exp(3.0F * normal(random)) * normal(random);
      const Four once = in_four_bits(row);
      const std::vector<float> read = upcast(once, length);
      const Four twice = in_four_bits(read);
      ASSERT_EQ(once.codes, twice.codes) << length;
      ASSERT_EQ(once.scales, twice.scales) << length;
      std::vector<float> half = read;
      for (float& x : half) x = bf16_to_float(float_to_bf16(x));
      ASSERT_EQ(in_four_bits(half).codes, once.codes) << "and a 16-bit type in between is far too little to change a code";
    }
  }
}

TEST(NarrowRows, WhatIsNotFiniteShowsInFourBits) {
  for (const float damage : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    std::vector<float> row(64, 1.0F);
    row[40] = damage;
    for (const float x : upcast(in_four_bits(row), 64)) EXPECT_TRUE(std::isnan(x));
  }
  for (const float x : upcast(in_four_bits(std::vector<float>(64, 0.0F)), 64)) EXPECT_EQ(x, 0.0F);
}

}  // namespace
}  // namespace winnow::kernels
