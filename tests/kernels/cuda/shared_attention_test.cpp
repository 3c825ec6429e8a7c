// Attention over shared slots against its reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/device_memory.h"
#include "tests/kernels/shared_attention_case.h"

namespace winnow::kernels::testing {
namespace {

class CudaSharedAttention : public testing::OnRunner {};

SharedAttentionCase::Result attend_shared(const SharedAttentionCase& problem, std::int64_t parts, bool probabilities) {
  const SharedAttentionCase::Result untouched = problem.result(probabilities);
  const DeviceMemory query(problem.query);
  const DeviceMemory blocks(problem.blocks);
  const SharedAttentionCase::Tables tables(problem, blocks.bytes());
  const DeviceMemory keys(tables.keys);
  const DeviceMemory values(tables.values);
  const DeviceMemory entry_slot(problem.entry_slot);
  const DeviceMemory entry_factor(problem.entry_factor);
  const DeviceMemory entry_position(problem.entry_position);
  const DeviceMemory frequencies(problem.frequencies);
  const DeviceMemory output(untouched.output);
  const DeviceMemory log_sum_exp(untouched.log_sum_exp);
  const DeviceMemory attention(untouched.probabilities);
  CudaSharedAttentionArgs args =
      problem.args({query.bytes(), keys.as<const void* const>(), values.as<const void* const>(), entry_slot.as<std::int32_t>(),
                    entry_factor.as<float>(), entry_position.as<float>(), frequencies.as<float>(), output.bytes(), log_sum_exp.as<float>(),
                    probabilities ? attention.as<float>() : nullptr, nullptr},
                   parts);
  const DeviceMemory workspace(std::vector<float>(static_cast<std::size_t>(cuda_shared_attention_workspace(args)), 1e30F));
  args.workspace = workspace.as<float>();
  EXPECT_EQ(cuda_shared_attention(args, nullptr), LaunchStatus::kOk);
  return {output.copy<std::byte>(), log_sum_exp.copy<float>(), attention.copy<float>()};
}

void expect_shared_attention(const SharedAttentionCase::Shape& shape, std::int64_t parts, bool probabilities) {
  SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts << (probabilities ? " with probabilities" : ""));
  const SharedAttentionCase problem(shape);
  problem.expect_near(attend_shared(problem, parts, probabilities));
}

TEST_F(CudaSharedAttention, EqualsTheReferenceForEveryTypeHeadSizeAndGroup) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : {1, 2, 18, 36, 64, 128}) {
      for (const std::int64_t group : {7, 9}) {
        for (const bool rotated : {false, true}) {
          if (rotated && head_dim % 2 != 0) continue;
          expect_shared_attention({type, head_dim, group, {{70, 20, 3}}, rotated}, 1, false);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(CudaSharedAttention, OnACardEqualsTheReferenceOverTheGrid) {
  if (!testing::runs_on_card()) GTEST_SKIP() << "too much for fibers";
  std::vector<std::vector<SharedAttentionCase::Head>> sizes = testing::shared_heads();
  sizes.push_back({{2500, 400, 70}});
  for (const std::vector<SharedAttentionCase::Head>& heads : sizes) {
    for (const ElementType type : testing::kEveryElementType) {
      for (const std::int64_t head_dim : {1, 2, 18, 36, 64, 80, 128, 256, 510, 512}) {
        for (const std::int64_t group : {1, 3, 7, 9, 71}) {
          if ((heads[0].listed > 100 || group > 9) && head_dim * group > 1200) continue;  // the reference would take minutes
          for (const bool rotated : {false, true}) {
            if (rotated && head_dim % 2 != 0) continue;
            const SharedAttentionCase problem({type, head_dim, group, heads, rotated});
            for (const std::int64_t parts : {1, 3}) {
              for (const bool probabilities : {false, true}) {
                SCOPED_TRACE(::testing::Message() << problem.shape.name() << " parts " << parts << " probabilities " << probabilities);
                problem.expect_near(attend_shared(problem, parts, probabilities));
                if (HasFatalFailure()) return;
              }
            }
          }
        }
      }
    }
  }
}

TEST_F(CudaSharedAttention, TakesTheLargestHeadSize) {
  expect_shared_attention({ElementType::kBf16, 511, 2, {{60, 20, 5}}, false}, 1, false);
  expect_shared_attention({ElementType::kBf16, 512, 2, {{60, 20, 5}}, false}, 1, true);
  expect_shared_attention({ElementType::kFp16, 510, 2, {{60, 20, 5}}, true}, 1, false);
  expect_shared_attention({ElementType::kFp32, 512, 2, {{60, 20, 5}}, true}, 2, true);
}

TEST_F(CudaSharedAttention, JoinsThePartsOfEveryTable) {
  for (const std::vector<SharedAttentionCase::Head>& heads : testing::shared_heads()) {
    for (const std::int64_t parts : {1, 3, 7}) {
      for (const bool rotated : {false, true}) {
        expect_shared_attention({ElementType::kBf16, 32, 4, heads, rotated}, parts, false);
        expect_shared_attention({ElementType::kFp32, 32, 3, heads, rotated}, parts, true);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(CudaSharedAttention, WritesProbabilitiesOfManyTokensAndHeads) {
  expect_shared_attention({ElementType::kFp32, 8, 1, {{1300, 40, 2}, {3, 2, 600}}, false}, 2, true);
  expect_shared_attention({ElementType::kFp16, 8, kMaxGroup, {{10, 4, 2}}, false}, 1, true);
}

void expect_same_attention(const SharedAttentionCase::Result& first, const SharedAttentionCase::Result& second) {
  EXPECT_EQ(first.output, second.output);
  EXPECT_EQ(first.log_sum_exp, second.log_sum_exp);
  EXPECT_EQ(first.probabilities, second.probabilities);
}

TEST_F(CudaSharedAttention, OfTheSameInputsIsTheSameBits) {
  for (const bool rotated : {false, true}) {
    const std::vector<SharedAttentionCase::Head> heads = testing::grid_of<SharedAttentionCase::Head>({{300, 70, 9}}, {{3000, 700, 90}});
    const SharedAttentionCase problem({ElementType::kBf16, 128, testing::runs_on_card() ? 7 : 2, heads, rotated});
    expect_same_attention(attend_shared(problem, 8, true), attend_shared(problem, 8, true));
  }
}

// Slots that are listed as what they are give what they give behind the table, to the bit.
TEST_F(CudaSharedAttention, NeedsNoEntryForWhatIsAppended) {
  for (const bool rotated : {false, true}) {
    const SharedAttentionCase behind({ElementType::kFp32, 16, 2, {{90, 30, 40}}, rotated});
    SharedAttentionCase listed = behind;
    listed.listed = {130};
    listed.covered = {70};
    listed.entry_stride = 130;
    listed.entry_slot.resize(90);
    listed.entry_factor.resize(90);
    listed.entry_position.resize(90);
    for (std::int32_t slot = 30; slot < 70; ++slot) {
      listed.entry_slot.push_back(slot);
      listed.entry_factor.push_back(1.0F);
      listed.entry_position.push_back(0.0F);
    }
    expect_same_attention(attend_shared(behind, 2, true), attend_shared(listed, 2, true));
  }
}

// Logits 2 ln 2 (one slot, length 2), ln 2 (the same slot), nothing (masked), 0 (without a value) and 0 (direct): weights 4, 2, 0, 1, 1.
TEST_F(CudaSharedAttention, IsKnownByHand) {
  SharedAttentionCase problem({ElementType::kFp32, 2, 1, {{4, 1, 1}}, false});
  const float ln2 = std::log(2.0F);
  const float scale = std::sqrt(2.0F);  // taken away by 1 / sqrt(head size)
  const float rows[2][2][2] = {{{ln2, 0.0F}, {0.0F, 5.0F}}, {{8.0F, -16.0F}, {80.0F, 0.0F}}};
  testing::put(problem.query.data(), ElementType::kFp32, 0, scale);
  testing::put(problem.query.data(), ElementType::kFp32, 1, 0.0F);
  for (std::int64_t part = 0; part < 2; ++part) {
    for (std::int64_t slot = 0; slot < 2; ++slot) {
      for (std::int64_t i = 0; i < 2; ++i) {
        testing::put(problem.blocks.data() + static_cast<std::size_t>(part) * problem.block_bytes(), ElementType::kFp32, slot * 2 + i,
                     rows[part][slot][i]);
      }
    }
  }
  std::copy_n(std::vector<std::int32_t>{0, 0, kMaskedToken, kZeroToken}.begin(), 4, problem.entry_slot.begin());
  std::copy_n(std::vector<float>{2.0F, 1.0F, 9.0F, 9.0F}.begin(), 4, problem.entry_factor.begin());
  for (const std::int64_t parts : {1, 2}) {
    const SharedAttentionCase::Result result = attend_shared(problem, parts, true);
    EXPECT_NEAR(element(result.output.data(), ElementType::kFp32, 0), (6.0 * 8.0 + 80.0) / 8.0, 1e-5);
    EXPECT_NEAR(element(result.output.data(), ElementType::kFp32, 1), 6.0 * -16.0 / 8.0, 1e-5);
    EXPECT_NEAR(result.log_sum_exp[0], std::log(8.0), 1e-6);
    const double expected[] = {4.0, 2.0, 0.0, 1.0, 1.0};
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(result.probabilities[i], expected[i] / 8.0, 1e-6) << i;
  }
}

TEST_F(CudaSharedAttention, KeepsDamageVisible) {
  SharedAttentionCase problem({ElementType::kFp32, 32, 2, {{100, 20, 30}}, false});
  testing::put(problem.query.data(), ElementType::kFp32, 0, std::nanf(""));  // head 0 only
  for (const std::int64_t parts : {1, 2}) {
    const SharedAttentionCase::Result result = attend_shared(problem, parts, false);
    EXPECT_TRUE(std::isnan(element(result.output.data(), ElementType::kFp32, 0)));
    EXPECT_TRUE(std::isfinite(element(result.output.data(), ElementType::kFp32, 32)));
  }
}

// Nothing takes part: there is no answer.
TEST_F(CudaSharedAttention, OfMaskedTokensAloneIsNone) {
  SharedAttentionCase problem({ElementType::kFp32, 8, 1, {{130, 2, 1}}, false});
  problem.covered = {3};
  std::fill(problem.entry_slot.begin(), problem.entry_slot.end(), kMaskedToken);
  for (const std::int64_t parts : {1, 2}) {
    const SharedAttentionCase::Result result = attend_shared(problem, parts, false);
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_TRUE(std::isnan(element(result.output.data(), ElementType::kFp32, i))) << parts;
  }
}

}  // namespace
}  // namespace winnow::kernels::testing
