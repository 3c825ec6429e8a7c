// Attention of many rows: the vectorised forms of every instruction set against the definition, and the definition against numbers worked
// out by hand.
#include "kernels/api/prefill_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/changed_arguments.h"
#include "tests/kernels/every_target.h"
#include "tests/kernels/prefill_attention_case.h"

namespace winnow::kernels::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A mean of values of about 1. Weights in bf16 are off by 2^-8 of themselves at most, and so is a mean of |values|, of which the largest of
// a row is below 5; a result in a 16-bit type is rounded once more (2^-8, 2^-11), by both sides. fp32: products of 256 elements in another
// order.
double tolerance(ElementType type) { return type == ElementType::kFp32 ? 2e-5 : type == ElementType::kFp16 ? 2e-3 : 2e-2; }

void expect_equals_the_definition(const Case& shape) {
  SCOPED_TRACE(::testing::Message() << "group " << shape.group << " rows " << shape.rows << " keys " << shape.keys << " head "
                                    << shape.head_dim << " seen " << shape.seen_by_first << " type " << static_cast<int>(shape.type));
  Attention expected(shape);
  ASSERT_EQ(prefill_attention_reference(expected.args()), LaunchStatus::kOk);
  with_every_target([&] {
    Attention found(shape);
    ASSERT_EQ(prefill_attention_cpu(found.args()), LaunchStatus::kOk);
    ASSERT_EQ(found.workspace.back(), 123.0F) << "wrote behind its workspace";
    for (std::int64_t head = 0; head < shape.group; ++head) {
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        if (expected.sum(head, row) == -kInfinity) {
          ASSERT_EQ(found.sum(head, row), -kInfinity) << row;
        } else {
          ASSERT_NEAR(found.sum(head, row), expected.sum(head, row), 2e-5) << head << " " << row;
        }
        for (std::int64_t i = 0; i < shape.head_dim; ++i) {
          ASSERT_NEAR(found.out(head, row, i), expected.out(head, row, i), tolerance(shape.type)) << head << " " << row << " " << i;
        }
        // Between rows nothing is written.
        const std::int64_t gap = (row * shape.group + head) * (shape.head_dim + 1) + shape.head_dim;
        const double before = Elements(shape.type, gap + 1).at(gap);
        ASSERT_EQ(found.output.at(gap), before);
      }
    }
  });
}

TEST(PrefillAttention, EqualsTheDefinitionForEveryHeadSizeAndType) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16}) {
    for (const std::int64_t head_dim : {1, 8, 18, 33, 64, 72, 80, 88, 112, 128, 256}) {
      expect_equals_the_definition({3, 5, 67, head_dim, 20, type, 1.0F / std::sqrt(static_cast<float>(head_dim))});
    }
  }
}

TEST(PrefillAttention, EqualsTheDefinitionForAwkwardNumbersOfRowsAndKeys) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    for (const std::int64_t group : {1, 2, 7}) {
      for (const std::int64_t rows : {1, 2, 13}) {
        for (const std::int64_t keys : {1, 2, 31, 32, 65, 255, 256, 257, 600}) {
          for (const std::int64_t seen : {std::int64_t{1}, keys - rows + 1, keys}) {
            expect_equals_the_definition({group, rows, keys, 16, seen, type});
          }
        }
      }
    }
  }
}

TEST(PrefillAttention, ACausalSquareOverManyTiles) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) expect_equals_the_definition({2, 530, 530, 24, 1, type});
}

TEST(PrefillAttention, RowsThatSeeNothingGetNothing) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    for (const std::int64_t seen : {0, -3, -20, -600}) expect_equals_the_definition({2, 15, 40, 16, seen, type});
  }
}

TEST(PrefillAttention, ANegativeScaleIsAScale) { expect_equals_the_definition({2, 9, 300, 16, 290, ElementType::kBf16, -0.4F}); }

// Equal logits: the mean of the values, and the logarithm of their number.
TEST(PrefillAttention, EqualLogitsByHand) {
  for (const auto attention : {&prefill_attention_reference, &prefill_attention_cpu}) {
    Attention call({1, 4, 300, 8, 1, ElementType::kBf16});
    for (std::int64_t i = 0; i < 4 * 8; ++i) call.query.set(i, 0.0F);
    for (std::int64_t j = 0; j < 300; ++j) {
      for (std::int64_t i = 0; i < 8; ++i) call.value.set(j * 13 + i, static_cast<float>(j % 4 * (i + 1)));
    }
    ASSERT_EQ(attention(call.args()), LaunchStatus::kOk);
    for (std::int64_t row = 0; row < 4; ++row) {
      EXPECT_NEAR(call.sum(0, row), std::log(static_cast<float>(row + 1)), 1e-6F);
      // Of 0 .. row: half of row.
      for (std::int64_t i = 0; i < 8; ++i) {
        EXPECT_NEAR(call.out(0, row, i), static_cast<double>(row * (i + 1)) / 2.0, 0.03 * static_cast<double>(row));
      }
    }
  }
}

// Logits of +-1,000 overflow an exponential; one key has all the weight, wherever it lies.
TEST(PrefillAttention, LargeLogitsNeitherOverflowNorVanish) {
  for (const std::int64_t winner : {0, 255, 256, 511}) {
    with_every_target([&] {
      Attention call({1, 7, 512, 8, 512, ElementType::kBf16, 1.0F});
      for (std::int64_t i = 0; i < 7 * 8; ++i) call.query.set(i, i % 8 == 0 ? 10.0F : 0.0F);
      for (std::int64_t j = 0; j < 512; ++j) call.key.set(j * 11, j == winner ? 100.0F : -100.0F);
      ASSERT_EQ(prefill_attention_cpu(call.args()), LaunchStatus::kOk);
      for (std::int64_t row = 0; row < 7; ++row) {
        EXPECT_FLOAT_EQ(call.sum(0, row), 1000.0F);
        EXPECT_EQ(call.out(0, row, 3), call.value.at(winner * 13 + 3));
      }
    });
  }
}

TEST(PrefillAttention, WhatIsNotANumberStaysSo) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    for (const std::int64_t damaged : {0, 100, 299}) {  // keys
      with_every_target([&] {
        Attention call({1, 40, 300, 16, 261, type});
        call.key.set(damaged * 19 + 2, std::numeric_limits<float>::quiet_NaN());
        ASSERT_EQ(prefill_attention_cpu(call.args()), LaunchStatus::kOk);
        for (std::int64_t row = 0; row < 40; ++row) {
          EXPECT_EQ(std::isnan(call.sum(0, row)), damaged < 261 + row) << row;
          EXPECT_EQ(std::isnan(call.out(0, row, 5)), damaged < 261 + row) << row;
        }
      });
    }
    with_every_target([&] {
      Attention call({1, 12, 300, 16, 300, type});
      call.query.set(16 * 4 + 1, kInfinity);  // row 4: infinities of both signs among its logits
      call.value.set(270 * 21 + 6, std::numeric_limits<float>::quiet_NaN());
      ASSERT_EQ(prefill_attention_cpu(call.args()), LaunchStatus::kOk);
      for (std::int64_t row = 0; row < 12; ++row) {
        EXPECT_EQ(std::isfinite(call.sum(0, row)), row != 4) << row;
        EXPECT_EQ(std::isfinite(call.out(0, row, 5)), row != 4) << row;
        EXPECT_TRUE(std::isnan(call.out(0, row, 6))) << row;
      }
    });
  }
}

TEST(PrefillAttention, PartsOfTheRowsAreIndependent) {
  const Case shape{2, 50, 90, 24, 41, ElementType::kBf16};
  Attention whole(shape);
  ASSERT_EQ(prefill_attention_cpu(whole.args()), LaunchStatus::kOk);
  Attention parts(shape);
  for (std::int64_t first = 0; first < 50; first += 17) {
    PrefillAttentionArgs args = parts.args();
    args.rows = std::min<std::int64_t>(17, 50 - first);
    args.query = reinterpret_cast<const std::uint16_t*>(parts.query.words.data()) + first * args.query_row_stride;
    args.output = reinterpret_cast<std::uint16_t*>(parts.output.words.data()) + first * args.output_row_stride;
    args.log_sum_exp += first;
    args.seen_by_first += first;
    ASSERT_EQ(prefill_attention_cpu(args), LaunchStatus::kOk);
  }
  EXPECT_EQ(parts.output.words, whole.output.words);
  EXPECT_EQ(parts.log_sum_exp, whole.log_sum_exp);
}

TEST(PrefillAttention, RefusesWhatDoesNotFit) {
  Attention call({2, 3, 4, 8});
  using Args = PrefillAttentionArgs;
  const ChangedArguments expect(call.args(), {&prefill_attention_cpu, &prefill_attention_reference});
  expect.needs(&Args::query, &Args::key, &Args::value, &Args::output, &Args::log_sum_exp, &Args::workspace);
  expect.needs_some_of(&Args::rows, &Args::keys, &Args::group);
  expect(kBad, [](Args& args) { args.head_dim = -1; });
  expect(kBad, [](Args& args) { args.type = static_cast<ElementType>(9); });
  expect(kTooLarge, [](Args& args) { args.head_dim = kMaxHeadDim + 1; });
}

// Every 16-bit number goes to fp32 and back; between two neighbours the nearer one is taken, and of two equally near ones the even one.
TEST(HalfTypes, RoundToNearestAndEven) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto word = static_cast<std::uint16_t>(bits);
    const float brain = bf16_to_float(word);
    const float half = fp16_to_float(word);
    if (!std::isnan(brain)) {
      ASSERT_EQ(float_to_bf16(brain), word);
    }
    if (!std::isnan(half)) {
      ASSERT_EQ(float_to_fp16(half), word);
    }
    if ((bits & 0x7FFFU) < 0x7C00U) {  // a finite half, and half a step above it
      const auto above = static_cast<std::uint16_t>(bits + 1);
      const float next = (above & 0x7FFFU) == 0x7C00U ? std::copysign(65536.0F, half) : fp16_to_float(above);
      const float middle = (half + next) / 2.0F;
      const std::uint16_t even = bits % 2 == 0 ? word : above;
      ASSERT_EQ(float_to_fp16(middle), even) << bits;
      ASSERT_EQ(float_to_fp16(std::nextafter(middle, half)), word) << bits;
      ASSERT_EQ(float_to_fp16(std::nextafter(middle, next)), above) << bits;
    }
  }
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x3F808000U)), 0x3F80);  // half way, even below
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x3F818000U)), 0x3F82);  // half way, even above
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x3F808001U)), 0x3F81);
  EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(fp16_to_float(float_to_fp16(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace winnow::kernels::testing
