// The CUDA kernels of attention over shared slots: their own source on CPU threads (cuda_on_cpu.h), against kernels/reference.
#include "tests/kernels/cuda_on_cpu.h"

#include <gtest/gtest.h>

#include "kernels/cuda/shared_attention.cuh"
#include "kernels/reference/check_shared_attention.h"
#include "tests/kernels/shared_attention_case.h"

namespace winnow::kernels {
namespace {

using testing::SharedAttentionCase;

// As cuda_shared_attention() launches.
template <class T, bool kRotated>
void attend_on_cpu(const CudaSharedAttentionArgs& args) {
  const cuda::SharedAttentionLaunch launch = cuda::plan_launch(args);
  const auto kv_heads = static_cast<unsigned>(args.kv_heads);
  const cuda::Index grid{static_cast<unsigned>(launch.parts), kv_heads,
                         static_cast<unsigned>((args.group + kCudaGroupTile - 1) / kCudaGroupTile)};
  cuda::launch_on_cpu(grid, cuda::kTokenThreads, [&] {
    if (cuda::reads_key_vectors<T, kRotated>(args)) {
      cuda::attend_tokens<T, cuda::kKeyVector<T, kRotated>, kRotated>(launch);
    } else {
      cuda::attend_tokens<T, 1, kRotated>(launch);
    }
  });
  if (launch.direct) return;
  cuda::launch_on_cpu({cuda::join_pieces(launch), kv_heads, 1}, cuda::kTokenThreads, [&] { cuda::join_tokens<T>(launch); });
}

template <class T>
void attend_on_cpu(const CudaSharedAttentionArgs& args) {
  args.entry_position != nullptr ? attend_on_cpu<T, true>(args) : attend_on_cpu<T, false>(args);
}

SharedAttentionCase::Result attend(const SharedAttentionCase& problem, std::int64_t parts, bool probabilities) {
  constexpr float kGuard = 12345.0F;  // stands behind the workspace
  SharedAttentionCase::Result result = problem.result(probabilities);
  const SharedAttentionCase::Tables tables(problem, problem.blocks.data());
  CudaSharedAttentionArgs args = problem.args(problem.memory(tables, result, nullptr), parts);
  std::vector<float> workspace(static_cast<std::size_t>(cuda_shared_attention_workspace(args)) + 1, kGuard);
  args.workspace = workspace.data();
  EXPECT_EQ(check_arguments(args), LaunchStatus::kOk);
  switch (args.type) {
    case ElementType::kFp32:
      attend_on_cpu<float>(args);
      break;
    case ElementType::kBf16:
      attend_on_cpu<cuda::Bf16>(args);
      break;
    case ElementType::kFp16:
      attend_on_cpu<cuda::Fp16>(args);
      break;
  }
  EXPECT_EQ(workspace.back(), kGuard) << "beyond the workspace";
  return result;
}

void expect_attention(const SharedAttentionCase::Shape& shape, std::int64_t parts, bool probabilities) {
  SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts << (probabilities ? " with probabilities" : ""));
  const SharedAttentionCase problem(shape);
  problem.expect_near(attend(problem, parts, probabilities));
}

TEST(CudaSharedAttention, EqualsTheReferenceForEveryTypeHeadSizeAndGroup) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : {1, 2, 18, 36, 64, 128}) {
      for (const std::int64_t group : {7, 9}) {
        for (const bool rotated : {false, true}) {
          if (rotated && head_dim % 2 != 0) continue;
          expect_attention({type, head_dim, group, {{70, 20, 3}}, rotated}, 1, false);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(CudaSharedAttention, TakesTheLargestHeadSize) {
  expect_attention({ElementType::kBf16, 511, 2, {{60, 20, 5}}, false}, 1, false);
  expect_attention({ElementType::kBf16, 512, 2, {{60, 20, 5}}, false}, 1, true);
  expect_attention({ElementType::kFp16, 510, 2, {{60, 20, 5}}, true}, 1, false);
  expect_attention({ElementType::kFp32, 512, 2, {{60, 20, 5}}, true}, 2, true);
}

TEST(CudaSharedAttention, JoinsThePartsOfEveryTable) {
  for (const std::vector<SharedAttentionCase::Head>& heads : testing::shared_heads()) {
    for (const std::int64_t parts : {1, 3, 7}) {
      for (const bool rotated : {false, true}) {
        expect_attention({ElementType::kBf16, 32, 4, heads, rotated}, parts, false);
        expect_attention({ElementType::kFp32, 32, 3, heads, rotated}, parts, true);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(CudaSharedAttention, WritesProbabilitiesOfManyTokensAndHeads) {
  expect_attention({ElementType::kFp32, 8, 1, {{1300, 40, 2}, {3, 2, 600}}, false}, 2, true);
  expect_attention({ElementType::kFp16, 8, kMaxGroup, {{10, 4, 2}}, false}, 1, true);
}

// Slots that are listed as what they are give what they give behind the table, to the bit.
TEST(CudaSharedAttention, NeedsNoEntryForWhatIsAppended) {
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
    const SharedAttentionCase::Result first = attend(behind, 2, true);
    const SharedAttentionCase::Result second = attend(listed, 2, true);
    EXPECT_EQ(first.output, second.output);
    EXPECT_EQ(first.log_sum_exp, second.log_sum_exp);
    EXPECT_EQ(first.probabilities, second.probabilities);
  }
}

// Logits 2 ln 2 (one slot, length 2), ln 2 (the same slot), nothing (masked), 0 (without a value) and 0 (direct): weights 4, 2, 0, 1, 1.
TEST(CudaSharedAttention, IsKnownByHand) {
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
    const SharedAttentionCase::Result result = attend(problem, parts, true);
    EXPECT_NEAR(element(result.output.data(), ElementType::kFp32, 0), (6.0 * 8.0 + 80.0) / 8.0, 1e-5);
    EXPECT_NEAR(element(result.output.data(), ElementType::kFp32, 1), 6.0 * -16.0 / 8.0, 1e-5);
    EXPECT_NEAR(result.log_sum_exp[0], std::log(8.0), 1e-6);
    const double expected[] = {4.0, 2.0, 0.0, 1.0, 1.0};
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(result.probabilities[i], expected[i] / 8.0, 1e-6) << i;
  }
}

TEST(CudaSharedAttention, KeepsDamageVisible) {
  SharedAttentionCase problem({ElementType::kFp32, 32, 2, {{100, 20, 30}}, false});
  testing::put(problem.query.data(), ElementType::kFp32, 0, std::nanf(""));  // head 0 only
  for (const std::int64_t parts : {1, 2}) {
    const SharedAttentionCase::Result result = attend(problem, parts, false);
    EXPECT_TRUE(std::isnan(element(result.output.data(), ElementType::kFp32, 0)));
    EXPECT_TRUE(std::isfinite(element(result.output.data(), ElementType::kFp32, 32)));
  }
}

// Nothing takes part: there is no answer.
TEST(CudaSharedAttention, OfMaskedTokensAloneIsNone) {
  SharedAttentionCase problem({ElementType::kFp32, 8, 1, {{130, 2, 1}}, false});
  problem.covered = {3};
  std::fill(problem.entry_slot.begin(), problem.entry_slot.end(), kMaskedToken);
  for (const std::int64_t parts : {1, 2}) {
    const SharedAttentionCase::Result result = attend(problem, parts, false);
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_TRUE(std::isnan(element(result.output.data(), ElementType::kFp32, i))) << parts;
  }
}

TEST(CudaSharedAttention, RefusesBadArguments) {
  const SharedAttentionCase problem({ElementType::kFp32, 16, 2, {{90, 30, 40}, {5, 2, 1}}, true});
  SharedAttentionCase::Result result = problem.result(true);
  const SharedAttentionCase::Tables tables(problem, problem.blocks.data());
  std::vector<float> workspace(1);
  const CudaSharedAttentionArgs good = problem.args(problem.memory(tables, result, workspace.data()), 1);
  const auto expect = [&](LaunchStatus status, const auto& change) {
    CudaSharedAttentionArgs args = good;
    change(args);
    EXPECT_EQ(check_arguments(args), status);
    EXPECT_EQ(cuda_shared_attention_reference(args), status);
  };
  const std::int32_t none[] = {0, 3};
  const std::int32_t many[] = {1000, 3};
  const std::int32_t negative[] = {-1, 2};
  expect(LaunchStatus::kOk, [](auto&) {});
  expect(LaunchStatus::kOk, [](auto& a) { a.entry_position = a.frequencies = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.query = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.output = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.key_blocks = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.value_blocks = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.slots = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.listed = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.covered = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.entry_slot = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.entry_factor = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.entry_position = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.frequencies = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.head_dim = 15; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.workspace = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.kv_heads = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.group = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.head_dim = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.block_slots = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.entry_stride = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.parts = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.type = static_cast<ElementType>(9); });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.slots = none; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.slots = many; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.listed = many; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.listed = negative; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.covered = many; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.covered = negative; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.probability_stride = 10; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.kv_heads = kMaxCudaKvHeads + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.group = kMaxGroup + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.head_dim = kMaxHeadDim + 2; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.parts = kMaxSharedParts + 1; });
  const std::int32_t no_tokens[] = {0, 5};
  expect(LaunchStatus::kBadArgument, [&](auto& a) {
    a.listed = no_tokens;
    a.covered = a.slots;
  });
  // What only the reference sees.
  SharedAttentionCase beyond = problem;
  beyond.entry_slot[3] = 70;
  EXPECT_EQ(cuda_shared_attention_reference(beyond.args(beyond.memory(tables, result, workspace.data()), 1)), LaunchStatus::kBadArgument);
}

}  // namespace
}  // namespace winnow::kernels
