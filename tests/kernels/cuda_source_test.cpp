// The CUDA kernels' own source on CPU threads (cuda_on_cpu.h), against kernels/reference: what can be tested of them without a GPU.
#include "tests/kernels/cuda_on_cpu.h"

#include <gtest/gtest.h>

#include "kernels/cuda/append_slots.cuh"
#include "kernels/cuda/decode_attention.cuh"
#include "tests/kernels/append_case.h"
#include "tests/kernels/ragged_decode_case.h"

namespace winnow::kernels {
namespace {

using testing::AppendCase;
using testing::DecodeCase;
using testing::RaggedDecodeCase;

// As cuda_decode_attention() launches.
template <class T>
void run_kernels(const CudaDecodeAttentionArgs& args) {
  const cuda::DecodeLaunch launch = cuda::plan_launch(args);
  constexpr int kVector = 16 / static_cast<int>(sizeof(T));
  const cuda::Index grid = {static_cast<unsigned>(launch.parts), static_cast<unsigned>(args.kv_heads),
                            static_cast<unsigned>((args.group + kCudaGroupTile - 1) / kCudaGroupTile)};
  cuda::launch_on_cpu(grid, cuda::kThreads, [&] {
    if (launch.head_dim % kVector == 0) {
      cuda::attend_part<T, kVector>(launch);
    } else {
      cuda::attend_part<T, 1>(launch);
    }
  });
  if (launch.direct) return;
  cuda::launch_on_cpu({static_cast<unsigned>(args.kv_heads * args.group), 1, 1}, cuda::kThreads, [&] { cuda::merge_parts<T>(launch); });
}

RaggedDecodeCase::Result attend(const RaggedDecodeCase& problem, std::int64_t parts, bool probabilities) {
  RaggedDecodeCase::Result result;
  result.output.assign(problem.query.size(), std::byte{0x7F});
  result.log_sum_exp.assign(problem.query_heads(), -7.0F);
  std::vector<float> workspace(static_cast<std::size_t>(
      cuda_decode_workspace(static_cast<std::int64_t>(problem.slots.size()), problem.group, problem.head_dim, parts)));
  CudaDecodeAttentionArgs args = problem.args(parts);
  args.query = problem.query.data();
  args.output = result.output.data();
  args.key_blocks = problem.key_blocks.data();
  args.value_blocks = problem.value_blocks.data();
  args.log_sum_exp = result.log_sum_exp.data();
  args.workspace = workspace.data();
  if (probabilities) {
    args.probability_stride = problem.probability_stride();
    result.probabilities.assign(problem.query_heads() * static_cast<std::size_t>(args.probability_stride), -7.0F);
    args.probabilities = result.probabilities.data();
  }
  EXPECT_EQ(check_arguments(args), LaunchStatus::kOk);
  switch (problem.type) {
    case ElementType::kFp32:
      run_kernels<float>(args);
      break;
    case ElementType::kBf16:
      run_kernels<cuda::Bf16>(args);
      break;
    case ElementType::kFp16:
      run_kernels<cuda::Fp16>(args);
      break;
  }
  return result;
}

TEST(CudaSource, DecodeAttentionEqualsTheReferenceForEveryTypeHeadSizeAndGroup) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16}) {
    for (const std::int64_t head_dim : {1, 8, 18, 64, 80, 128}) {
      for (const std::int64_t group : {1, 7, 9}) {
        SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " head_dim " << head_dim << " group " << group);
        const RaggedDecodeCase problem(type, head_dim, group, {70, 1}, static_cast<unsigned>(head_dim * 10 + group));
        problem.expect_near(attend(problem, 1, false));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(CudaSource, DecodeAttentionTakesTheLargestHeadSize) {
  for (const std::int64_t head_dim : {511, 512}) {
    SCOPED_TRACE(head_dim);
    const RaggedDecodeCase problem(ElementType::kBf16, head_dim, 2, {65}, 3);
    problem.expect_near(attend(problem, 1, false));
  }
}

TEST(CudaSource, DecodeAttentionJoinsTheParts) {
  for (const std::int64_t parts : {1, 2, 3, 7}) {
    for (const std::vector<std::int32_t>& slots : {std::vector<std::int32_t>{400, 63}, {64, 129, 1}}) {
      SCOPED_TRACE(::testing::Message() << parts << " parts, first head " << slots[0]);
      const RaggedDecodeCase problem(ElementType::kBf16, 64, 4, slots, 11);
      problem.expect_near(attend(problem, parts, false));
      problem.expect_near(attend(problem, parts, true));
    }
  }
}

TEST(CudaSource, DecodeAttentionKeepsNanVisible) {
  RaggedDecodeCase problem(ElementType::kFp32, 32, 2, {130}, 3);
  const float nan = std::nanf("");
  std::memcpy(problem.query.data(), &nan, 4);  // head 0 only
  for (const std::int64_t parts : {1, 2}) {
    const RaggedDecodeCase::Result result = attend(problem, parts, false);
    EXPECT_TRUE(std::isnan(testing::element_at(result.output, problem.type, 0)));
    EXPECT_TRUE(std::isfinite(testing::element_at(result.output, problem.type, 32)));
  }
}

TEST(CudaSource, PartsFillTheDeviceAndStayLong) {
  EXPECT_EQ(cuda_decode_parts(100, 2, 7, 132), 1);
  EXPECT_EQ(cuda_decode_parts(2048, 2, 7, 132), 8);     // 256 slots each
  EXPECT_EQ(cuda_decode_parts(65536, 2, 7, 132), 132);  // two thread blocks per multiprocessor
  EXPECT_EQ(cuda_decode_parts(65536, 8, 16, 132), 17);  // 16 thread blocks per part
}

TEST(CudaSource, DecodeAttentionRefusesBadArguments) {
  RaggedDecodeCase problem(ElementType::kFp32, 32, 2, {70}, 1);
  std::vector<float> output(64);
  CudaDecodeAttentionArgs good = problem.args(1);
  good.query = problem.query.data();
  good.output = output.data();
  good.key_blocks = problem.key_blocks.data();
  good.value_blocks = problem.value_blocks.data();
  good.workspace = output.data();
  ASSERT_EQ(check_arguments(good), LaunchStatus::kOk);
  const std::int32_t none[] = {0};
  const std::int32_t beyond[] = {1000};
  const auto expect = [&](LaunchStatus status, auto change) {
    CudaDecodeAttentionArgs args = good;
    change(args);
    EXPECT_EQ(check_arguments(args), status);
  };
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.query = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.workspace = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.slots = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.parts = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.type = static_cast<ElementType>(9); });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.slots = none; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.slots = beyond; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.probabilities = output.data(); });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.block_slots = 32; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.kv_heads = kMaxCudaKvHeads + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.group = kMaxGroup + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.head_dim = kMaxHeadDim + 1; });
}

template <class Element>
void append_on_cpu(const AppendSlotsArgs& args) {
  const cuda::AppendLaunch launch = cuda::plan_launch(args);
  const cuda::Index grid = {static_cast<unsigned>((args.tokens + cuda::kAppendTokens - 1) / cuda::kAppendTokens),
                            static_cast<unsigned>(args.kv_heads), 1};
  cuda::launch_on_cpu(grid, 32 * cuda::kAppendTokens, [&] { cuda::append_rows<Element>(launch); });
}

TEST(CudaSource, AppendedRowsLieWhereTheReferencePutsThem) {
  for (const std::int64_t bytes : {2, 4}) {
    for (const std::int64_t tokens : {1, 3, 130}) {
      for (const std::int64_t head_dim : {3, 64}) {
        SCOPED_TRACE(::testing::Message() << bytes << " bytes, " << tokens << " tokens, head_dim " << head_dim);
        AppendCase expected(bytes, tokens, head_dim, {0, 63, 130});
        AppendCase actual(bytes, tokens, head_dim, {0, 63, 130});
        ASSERT_EQ(append_slots_reference(expected.args()), LaunchStatus::kOk);
        if (bytes == 2) {
          append_on_cpu<std::uint16_t>(actual.args());
        } else {
          append_on_cpu<std::uint32_t>(actual.args());
        }
        EXPECT_EQ(actual.memory(), expected.memory());
      }
    }
  }
}

// One head, two tokens of one element, the second in a new block.
TEST(AppendSlots, SolvesACaseByHand) {
  const std::uint16_t keys[] = {7, 8};
  const std::uint16_t values[] = {70, 80};
  std::uint16_t blocks[4][2] = {};  // K, K, V, V
  void* key_blocks[] = {blocks[0], blocks[1]};
  void* value_blocks[] = {blocks[2], blocks[3]};
  const std::int32_t slots[] = {1};
  AppendSlotsArgs args;
  args.key = keys;
  args.value = values;
  args.key_head_stride = args.value_head_stride = 2;
  args.key_token_stride = args.value_token_stride = 1;
  args.element_bytes = 2;
  args.kv_heads = 1;
  args.tokens = 2;
  args.head_dim = 1;
  args.slots = slots;
  args.key_blocks = key_blocks;
  args.value_blocks = value_blocks;
  args.table_stride = 2;
  args.block_slots = 2;
  ASSERT_EQ(append_slots_reference(args), LaunchStatus::kOk);
  EXPECT_EQ(blocks[0][1], 7);
  EXPECT_EQ(blocks[1][0], 8);
  EXPECT_EQ(blocks[2][1], 70);
  EXPECT_EQ(blocks[3][0], 80);
  EXPECT_EQ(blocks[0][0], 0);
  EXPECT_EQ(blocks[1][1], 0);

  args.tokens = 4;  // past the table
  EXPECT_EQ(append_slots_reference(args), LaunchStatus::kBadArgument);
  args.tokens = 2;
  args.element_bytes = 8;
  EXPECT_EQ(append_slots_reference(args), LaunchStatus::kBadArgument);
}

}  // namespace
}  // namespace winnow::kernels
