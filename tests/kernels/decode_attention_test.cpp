#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <algorithm>
#include <cmath>

#include "kernels/api/decode_attention.h"
#include "kernels/reference/half.h"
#include "tests/kernels/changed_arguments.h"
#include "tests/kernels/decode_attention_case.h"

namespace winnow::kernels::testing {
namespace {

constexpr double kEps = 5.960464477539063e-8;  // 2^-24, half a unit in the last place of fp32

// The reference works in double on the same (already narrow) K and V, so only fp32 rounding in the kernel counts.
// logit: a dot product of head_dim terms of standard normals has sum |q k| <= about 1.5 head_dim here (mean 2/pi per term), each of the
//   head_dim additions rounds once: |ds| <= scale * head_dim * 1.5 head_dim * eps (a worst case; typical is its square root).
// probability: relative error <= 2 |ds| (numerator and denominator) + exp and sum, together under (8 + slots) eps.
// output: at most that, times max |v| (< 6 for these draws).
double relative_tolerance(std::int64_t head_dim, std::int64_t slots) {
  const double ds = 1.5 * std::sqrt(static_cast<double>(head_dim)) * static_cast<double>(head_dim) * kEps;
  return 2.0 * ds + (8.0 + static_cast<double>(slots)) * kEps;
}

void expect_equal_to_reference(DecodeCase& problem, std::int64_t head_dim, std::int64_t group, std::int64_t slots) {
  DecodeCase::Answer expected;
  DecodeCase::Answer actual;
  ASSERT_EQ(decode_attention_reference(problem.args(expected)), LaunchStatus::kOk);
  ASSERT_EQ(decode_attention_cpu(problem.args(actual)), LaunchStatus::kOk);
  const double tolerance = relative_tolerance(head_dim, slots);
  for (std::size_t i = 0; i < expected.output.size(); ++i) ASSERT_NEAR(actual.output[i], expected.output[i], 6.0 * tolerance) << i;
  for (std::size_t i = 0; i < expected.log_sum_exp.size(); ++i) {
    ASSERT_NEAR(actual.log_sum_exp[i], expected.log_sum_exp[i], tolerance + 16 * kEps) << i;
  }
  for (std::int64_t h = 0; h < group; ++h) {
    double sum = 0.0;
    for (std::int64_t s = 0; s < slots; ++s) {
      const auto i = static_cast<std::size_t>(h * slots + s);
      ASSERT_NEAR(actual.probabilities[i], expected.probabilities[i], tolerance * expected.probabilities[i] + 1e-30) << i;
      sum += actual.probabilities[i];
    }
    ASSERT_NEAR(sum, 1.0, tolerance);
  }
}

TEST(DecodeAttention, EqualsTheReferenceOverTheGridOnEveryInstructionSet) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16}) {
      for (const std::int64_t head_dim : {8, 32, 64, 80, 128}) {
        for (const std::int64_t group : {1, 2, 3, 7, 8}) {
          for (const std::int64_t slots : {1, 63, 64, 65, 1000}) {
            SCOPED_TRACE(::testing::Message() << hwy::TargetName(target) << " type " << static_cast<int>(type) << " head_dim " << head_dim
                                              << " group " << group << " slots " << slots);
            DecodeCase problem(type, head_dim, group, slots, static_cast<unsigned>(head_dim * 1000 + group * 100 + slots));
            expect_equal_to_reference(problem, head_dim, group, slots);
            if (HasFatalFailure()) {
              hwy::SetSupportedTargetsForTest(0);
              return;
            }
          }
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(DecodeAttention, TakesAsManyQueryHeadsAsAllowed) {
  DecodeCase problem(ElementType::kFp32, 16, kMaxGroup, 70, 1);
  expect_equal_to_reference(problem, 16, kMaxGroup, 70);
}

TEST(DecodeAttention, ReadsRowsOfCodesAsTheReferenceOnEveryInstructionSet) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const std::int64_t head_dim : {7, 8, 64, 80, 100, 128}) {
      for (const std::int64_t group : {1, 3, 7}) {
        for (const std::int64_t slots : {1, 63, 65, 1000}) {
          SCOPED_TRACE(::testing::Message() << hwy::TargetName(target) << " head_dim " << head_dim << " group " << group << " slots "
                                            << slots);
          for (const auto rows : {DecodeCase::Rows::kNarrow, DecodeCase::Rows::kUnbiased, DecodeCase::Rows::kUnbiasedFew,
                                  DecodeCase::Rows::kFour, DecodeCase::Rows::kFourUnbiased, DecodeCase::Rows::kWideUnbiased}) {
            const bool four = rows == DecodeCase::Rows::kFour || rows == DecodeCase::Rows::kFourUnbiased;
            if (four && head_dim % 2 != 0) continue;
            DecodeCase problem(ElementType::kFp32, head_dim, group, slots, static_cast<unsigned>(head_dim + group + slots), rows);
            expect_equal_to_reference(problem, head_dim, group, slots);
          }
          if (HasFatalFailure()) {
            hwy::SetSupportedTargetsForTest(0);
            return;
          }
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

// One query head of two numbers over a block of two slots.
struct OfTwoSlots {
  OfTwoSlots(const float* query, const void* key_block, const void* value_block) : keys{key_block}, values{value_block} {
    args.query = query;
    args.group = 1;
    args.head_dim = args.slots = args.block_slots = 2;
    args.key_blocks = keys;
    args.value_blocks = values;
    args.output = output;
    args.log_sum_exp = log_sum_exp;
    args.probabilities = probabilities;
    args.workspace = workspace;
  }
  OfTwoSlots(const OfTwoSlots&) = delete;
  OfTwoSlots& operator=(const OfTwoSlots&) = delete;

  const void* keys[1];
  const void* values[1];
  float output[2], log_sum_exp[1], probabilities[2], workspace[2];
  DecodeAttentionArgs args;
};

// q = (1, 1), scale 1. K = codes (127, 0) and (0, 127) times 0 and ln 3 / 127: probabilities 1/4 and 3/4. V = (4, 0) and (8, 4).
TEST(DecodeAttention, SolvesACaseOfEightBitsByHand) {
  struct Block {
    std::int8_t codes[4];
    float scales[2];
  };
  const float query[] = {1.0F, 1.0F};
  const Block keys{{127, 0, 0, 127}, {0.0F, std::log(3.0F) / 127.0F}};
  const Block values{{2, 0, 16, 8}, {2.0F, 0.5F}};
  for (const auto call : {&decode_attention_reference, &decode_attention_cpu}) {
    OfTwoSlots hand(query, &keys, &values);
    hand.args.narrow = true;
    ASSERT_EQ(call(hand.args), LaunchStatus::kOk);
    EXPECT_NEAR(hand.output[0], 7.0F, 1e-5F);
    EXPECT_NEAR(hand.output[1], 3.0F, 1e-5F);
    EXPECT_NEAR(hand.log_sum_exp[0], std::log(4.0F), 1e-6F);
    EXPECT_NEAR(hand.probabilities[0], 0.25F, 1e-6F);
    EXPECT_NEAR(hand.probabilities[1], 0.75F, 1e-6F);
  }
}

// The same in 4 bits: codes less 8 share a byte, the first element in its low bits. K = (-8, 0) times 0 and (0, -8) times -ln 3 / 8, which
// bf16 rounds; V = (2, 0) times 2 and (-8, -4) times -1.
TEST(DecodeAttention, SolvesACaseOfFourBitsByHand) {
  struct Block {
    std::uint8_t codes[2];
    std::uint16_t scales[2];
  };
  const std::uint16_t eighth = float_to_bf16(-std::log(3.0F) / 8.0F);
  const double three = std::exp(-8.0 * static_cast<double>(bf16_to_float(eighth)));
  const float query[] = {1.0F, 1.0F};
  const Block keys{{0x80, 0x08}, {0, eighth}};
  const Block values{{0x8A, 0x40}, {float_to_bf16(2.0F), float_to_bf16(-1.0F)}};
  for (const auto call : {&decode_attention_reference, &decode_attention_cpu}) {
    OfTwoSlots hand(query, &keys, &values);
    hand.args.narrow = true;
    hand.args.codes = RowCodes::kInt4;
    ASSERT_EQ(call(hand.args), LaunchStatus::kOk);
    EXPECT_NEAR(hand.probabilities[0], 1.0 / (1.0 + three), 1e-6);
    EXPECT_NEAR(hand.output[0], (4.0 + 8.0 * three) / (1.0 + three), 1e-5);
    EXPECT_NEAR(hand.output[1], 4.0 * three / (1.0 + three), 1e-5);
    hand.args.codes = static_cast<RowCodes>(3);
    EXPECT_EQ(call(hand.args), LaunchStatus::kBadArgument);
  }
}

// The same rows as in 8 bits, and what they lack: b = (ln 2, 0) at an angle of 0 in slot 0, of 90 degrees in slot 1, so R(p) b = (ln 2, 0)
// and (0, ln 2). q . R(p) b is ln 2 in both. Probabilities stay 1/4 and 3/4, the log-sum-exp is ln 2 more; in the second slot alone they
// are 1/7 and 6/7.
TEST(DecodeAttention, AddsTheBiasThatRowsLackByHand) {
  struct Block {
    std::int8_t codes[4];
    float scales[2];
  };
  const float ln2 = std::log(2.0F);
  const float query[] = {1.0F, 1.0F};
  // One pair, in the second unit: (u x + v y, v x - u y) times a hundredth, and rotations in hundredths.
  float bias_query[16] = {};
  bias_query[0] = bias_query[8] = ln2 / 100.0F;
  std::int16_t rotations[3][2][16] = {};
  rotations[1][1][0] = rotations[2][1][8] = 100;
  std::fill_n(rotations[2][0], 16, std::int16_t{9});
  const std::int32_t units[] = {1};
  const Block keys{{127, 0, 0, 127}, {0.0F, std::log(3.0F) / 127.0F}};
  const Block values{{2, 0, 16, 8}, {2.0F, 0.5F}};
  for (const auto call : {&decode_attention_reference, &decode_attention_cpu}) {
    std::int32_t of_slots[] = {1, 2};
    OfTwoSlots hand(query, &keys, &values);
    hand.args.narrow = true;
    hand.args.key_bias = {bias_query, units, 1, rotations[0][0], 2, of_slots};
    ASSERT_EQ(call(hand.args), LaunchStatus::kOk);
    EXPECT_NEAR(hand.probabilities[1], 0.75F, 1e-6F);
    EXPECT_NEAR(hand.log_sum_exp[0], std::log(8.0F), 1e-6F);
    of_slots[0] = 0;  // stored with its bias
    ASSERT_EQ(call(hand.args), LaunchStatus::kOk);
    EXPECT_NEAR(hand.probabilities[1], 6.0F / 7.0F, 1e-6F);
    hand.args.key_bias.count = 0;
    EXPECT_EQ(call(hand.args), LaunchStatus::kBadArgument);
    hand.args.key_bias = {bias_query, units, 1, rotations[0][0], 2, nullptr};
    EXPECT_EQ(call(hand.args), LaunchStatus::kBadArgument);
  }
}

// Two codes share a byte, and the last one of an odd row would be multiplied with what stands behind the query.
TEST(DecodeAttention, RefusesOddHeadSizesInFourBits) {
  DecodeCase::Answer answer;
  DecodeCase odd(ElementType::kFp32, 7, 3, 65, 1, DecodeCase::Rows::kFour);
  for (const auto call : {&decode_attention_reference, &decode_attention_cpu})
    EXPECT_EQ(call(odd.args(answer)), LaunchStatus::kUnsupported);
}

TEST(DecodeAttention, TakesHeadSizesThatNoVectorDivides) {
  for (const std::int64_t head_dim : {1, 3, 7, 12, 100}) {
    SCOPED_TRACE(head_dim);
    DecodeCase problem(ElementType::kBf16, head_dim, 3, 130, 5);
    expect_equal_to_reference(problem, head_dim, 3, 130);
  }
}

// q = (1, 0), scale 1, K = (0, .), (ln 3, .): probabilities 1/4 and 3/4.
TEST(DecodeAttention, SolvesACaseByHand) {
  const float query[] = {1.0F, 0.0F};
  const float keys[] = {0.0F, 5.0F, std::log(3.0F), -2.0F};
  const float values[] = {4.0F, 0.0F, 8.0F, 4.0F};
  for (const auto call : {&decode_attention_reference, &decode_attention_cpu}) {
    OfTwoSlots hand(query, keys, values);
    ASSERT_EQ(call(hand.args), LaunchStatus::kOk);
    EXPECT_NEAR(hand.output[0], 7.0F, 1e-5F);
    EXPECT_NEAR(hand.output[1], 3.0F, 1e-5F);
    EXPECT_NEAR(hand.log_sum_exp[0], std::log(4.0F), 1e-6F);
    EXPECT_NEAR(hand.probabilities[0], 0.25F, 1e-6F);
    EXPECT_NEAR(hand.probabilities[1], 0.75F, 1e-6F);
  }
}

// Logits of +-1000 in different blocks: exp would overflow without the running maximum, and early blocks must be rescaled to nothing.
TEST(DecodeAttention, SurvivesHugeLogits) {
  DecodeCase problem(ElementType::kFp32, 32, 2, 200, 3);
  for (float& x : problem.query()) x *= 1000.0F;
  DecodeCase::Answer expected;
  DecodeCase::Answer actual;
  ASSERT_EQ(decode_attention_reference(problem.args(expected)), LaunchStatus::kOk);
  ASSERT_EQ(decode_attention_cpu(problem.args(actual)), LaunchStatus::kOk);
  for (std::size_t i = 0; i < expected.output.size(); ++i) EXPECT_NEAR(actual.output[i], expected.output[i], 1e-2F);
}

TEST(DecodeAttention, KeepsNanVisible) {
  for (const std::int64_t slots : {5, 100}) {
    DecodeCase problem(ElementType::kFp32, 32, 2, slots, 3);
    problem.query()[0] = std::nanf("");  // head 0 only
    for (const auto call : {&decode_attention_reference, &decode_attention_cpu}) {
      DecodeCase::Answer answer;
      ASSERT_EQ(call(problem.args(answer)), LaunchStatus::kOk);
      EXPECT_TRUE(std::isnan(answer.output[0]));
      EXPECT_TRUE(std::isfinite(answer.output[32]));
    }
  }
}

TEST(DecodeAttention, OptionalOutputsMayBeMissing) {
  DecodeCase problem(ElementType::kBf16, 64, 7, 100, 9);
  DecodeCase::Answer with;
  DecodeCase::Answer without;
  decode_attention_cpu(problem.args(with));
  DecodeAttentionArgs args = problem.args(without);
  args.log_sum_exp = nullptr;
  args.probabilities = nullptr;
  ASSERT_EQ(decode_attention_cpu(args), LaunchStatus::kOk);
  EXPECT_EQ(with.output, without.output);
  EXPECT_EQ(without.log_sum_exp[0], -7.0F);
}

TEST(DecodeAttention, RefusesBadArguments) {
  DecodeCase problem(ElementType::kFp32, 32, 2, 70, 1);
  DecodeCase::Answer answer;
  const DecodeAttentionArgs good = problem.args(answer);
  const ChangedArguments expect(good, {&decode_attention_cpu, &decode_attention_reference});
  const void* holes[] = {good.key_blocks[0], nullptr};
  expect.needs(&DecodeAttentionArgs::query, &DecodeAttentionArgs::output, &DecodeAttentionArgs::workspace,
               &DecodeAttentionArgs::key_blocks);
  expect(kBad, [&](auto& a) { a.value_blocks = holes; });
  expect.needs_some_of(&DecodeAttentionArgs::slots, &DecodeAttentionArgs::group, &DecodeAttentionArgs::block_slots);
  expect(kBad, [](auto& a) { a.head_dim = -1; });
  expect(kBad, [](auto& a) { a.kv_type = static_cast<ElementType>(9); });
  expect(kTooLarge, [](auto& a) { a.group = kMaxGroup + 1; });
  expect(kTooLarge, [](auto& a) { a.head_dim = kMaxHeadDim + 1; });
}

TEST(Half, UpcastsExactly) {
  EXPECT_EQ(bf16_to_float(0x3F80), 1.0F);
  EXPECT_EQ(bf16_to_float(0xC040), -3.0F);
  EXPECT_EQ(fp16_to_float(0x3C00), 1.0F);
  EXPECT_EQ(fp16_to_float(0xC200), -3.0F);
  EXPECT_EQ(fp16_to_float(0x7BFF), 65504.0F);
  EXPECT_EQ(fp16_to_float(0x0001), std::ldexp(1.0F, -24));
  EXPECT_EQ(fp16_to_float(0x8000), 0.0F);
  EXPECT_TRUE(std::isinf(fp16_to_float(0xFC00)));
  EXPECT_TRUE(std::isnan(fp16_to_float(0x7E00)));
}

}  // namespace
}  // namespace winnow::kernels::testing
