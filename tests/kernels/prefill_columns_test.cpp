// What keys receive, counted by prefill attention on its way: the vectorised forms of every instruction set against the definition, and
// against what a distribution owes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/every_target.h"
#include "tests/kernels/prefill_attention_case.h"

namespace winnow::kernels::testing {
namespace {

// Relative, of a sum of positive terms. fp32: a logit of standard normals is a sum of head_dim products of up to 6, times a scale, and its
// error is that of the probability; then a sum over rows. In bf16 a probability is rounded once more, by 2^-8 of itself at most.
double tolerance(const Case& shape) {
  constexpr double kEps = 5.960464477539063e-8;
  const double logit = 36.0 * static_cast<double>(shape.head_dim) * std::abs(static_cast<double>(shape.scale));
  const double fp32 = (logit + static_cast<double>(shape.rows) + 16.0) * kEps;
  return shape.type == ElementType::kBf16 ? fp32 + std::ldexp(1.0, -8) : fp32;
}

void expect_equals_the_definition(const Case& shape) {
  SCOPED_TRACE(::testing::Message() << "group " << shape.group << " rows " << shape.rows << " keys " << shape.keys << " head "
                                    << shape.head_dim << " seen " << shape.seen_by_first << " type " << static_cast<int>(shape.type));
  Attention expected(shape);
  ASSERT_EQ(prefill_attention_reference(expected.args_with_sums()), LaunchStatus::kOk);
  with_every_target([&] {
    Attention plain(shape);
    ASSERT_EQ(prefill_attention_cpu(plain.args()), LaunchStatus::kOk);
    Attention found(shape);
    ASSERT_EQ(prefill_attention_cpu(found.args_with_sums()), LaunchStatus::kOk);
    ASSERT_EQ(found.kept.back(), 123.0F) << "wrote behind what it was given";
    ASSERT_EQ(found.output.words, plain.output.words) << "counting changes the result";
    ASSERT_EQ(found.log_sum_exp, plain.log_sum_exp);
    for (std::int64_t key = 0; key < shape.keys; ++key) {
      for (std::int64_t head = 0; head < shape.group; ++head) {
        const float sum = expected.column_sum(head, key);
        ASSERT_NEAR(found.column_sum(head, key), sum, tolerance(shape) * static_cast<double>(sum)) << head << " " << key;
      }
      const float squares = expected.column_squares[static_cast<std::size_t>(key)];
      ASSERT_NEAR(found.column_squares[static_cast<std::size_t>(key)], squares, 2.0 * tolerance(shape) * static_cast<double>(squares))
          << key;
    }
    for (std::int64_t head = 0; head < shape.group; ++head) {
      ASSERT_EQ(found.column_sum(head, shape.keys), -7.0F) << "between rows nothing is written";
    }
  });
}

TEST(PrefillColumns, EqualTheDefinitionForEveryHeadSizeAndType) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16}) {
    for (const std::int64_t head_dim : {1, 18, 33, 64, 80}) {
      expect_equals_the_definition({3, 5, 67, head_dim, 20, type, 1.0F / std::sqrt(static_cast<float>(head_dim))});
    }
  }
}

TEST(PrefillColumns, EqualTheDefinitionForAwkwardNumbersOfRowsAndKeys) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    for (const std::int64_t group : {1, 7}) {
      for (const std::int64_t rows : {1, 13, 40}) {
        for (const std::int64_t keys : {1, 31, 65, 257, 600}) {
          for (const std::int64_t seen : {std::int64_t{1}, keys - rows + 1, keys, std::int64_t{-5}}) {
            expect_equals_the_definition({group, rows, keys, 16, seen, type});
          }
        }
      }
    }
  }
}

TEST(PrefillColumns, ACausalSquareOverManyTiles) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) expect_equals_the_definition({2, 530, 530, 24, 1, type});
}

// Every row's probabilities sum to 1. Its maximum moves from tile to tile here, by up to 2^40: later keys are longer.
TEST(PrefillColumns, TogetherAreTheRows) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    with_every_target([&] {
      Attention call({2, 45, 900, 16, 856, type, 1.0F});
      for (std::int64_t key = 0; key < 900; ++key) {
        for (std::int64_t i = 0; i < 16; ++i) {
          call.key.set(key * 19 + i, static_cast<float>(call.key.at(key * 19 + i) * (0.2 + static_cast<double>(key / 256))));
        }
      }
      ASSERT_EQ(prefill_attention_cpu(call.args_with_sums()), LaunchStatus::kOk);
      for (std::int64_t head = 0; head < 2; ++head) {
        double sum = 0.0;
        for (std::int64_t key = 0; key < 900; ++key) sum += static_cast<double>(call.column_sum(head, key));
        EXPECT_NEAR(sum, 45.0, type == ElementType::kFp32 ? 1e-3 : 45.0 * std::ldexp(1.0, -8));
      }
    });
  }
}

// Equal logits: row r gives 1 / (r + 1) to each of its keys.
TEST(PrefillColumns, EqualLogitsByHand) {
  for (const auto attention : {&prefill_attention_reference, &prefill_attention_cpu}) {
    Attention call({2, 300, 300, 8, 1, ElementType::kFp32});
    for (std::int64_t i = 0; i < 2 * 300 * 8; ++i) call.query.set(i, 0.0F);
    ASSERT_EQ(attention(call.args_with_sums()), LaunchStatus::kOk);
    double sum = 0.0;
    double squares = 0.0;
    for (std::int64_t key = 299; key >= 0; --key) {
      sum += 1.0 / static_cast<double>(key + 1);
      squares += 1.0 / static_cast<double>((key + 1) * (key + 1));
      EXPECT_NEAR(call.column_sum(0, key), sum, 1e-5 * sum) << key;
      EXPECT_NEAR(call.column_sum(1, key), sum, 1e-5 * sum) << key;
      EXPECT_NEAR(call.column_squares[static_cast<std::size_t>(key)], squares, 1e-5 * squares) << key;
    }
  }
}

TEST(PrefillColumns, SquaresMayBeLeftOut) {
  const Case shape{2, 20, 100, 16, 81};
  Attention both(shape);
  ASSERT_EQ(prefill_attention_cpu(both.args_with_sums()), LaunchStatus::kOk);
  Attention sums(shape);
  PrefillAttentionArgs args = sums.args_with_sums();
  args.column_squares = nullptr;
  ASSERT_EQ(prefill_attention_cpu(args), LaunchStatus::kOk);
  EXPECT_EQ(sums.column_sums, both.column_sums);
}

TEST(PrefillColumns, WhatIsNotANumberStaysSo) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    with_every_target([&] {
      Attention call({1, 40, 300, 16, 261, type});
      call.query.set(16 * 4 + 1, std::numeric_limits<float>::quiet_NaN());  // row 4 sees 265 keys
      ASSERT_EQ(prefill_attention_cpu(call.args_with_sums()), LaunchStatus::kOk);
      for (std::int64_t key = 0; key < 265; ++key) EXPECT_TRUE(std::isnan(call.column_sum(0, key))) << key;
      EXPECT_TRUE(std::isnan(call.column_squares[264]));
    });
  }
}

TEST(PrefillColumns, RefuseWhatDoesNotFit) {
  Attention call({2, 3, 4, 8});
  const PrefillAttentionArgs good = call.args_with_sums();
  for (const auto change :
       {+[](PrefillAttentionArgs& args) { args.kept = nullptr; }, +[](PrefillAttentionArgs& args) { args.column_sums = nullptr; },
        +[](PrefillAttentionArgs& args) { args.column_sums = nullptr, args.kept = nullptr; }}) {
    PrefillAttentionArgs args = good;
    change(args);
    EXPECT_EQ(prefill_attention_cpu(args), LaunchStatus::kBadArgument);
    EXPECT_EQ(prefill_attention_reference(args), LaunchStatus::kBadArgument);
  }
}

}  // namespace
}  // namespace winnow::kernels::testing
