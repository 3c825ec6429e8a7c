// The CUDA kernels' own source on CPU threads (cuda_on_cpu.h), against kernels/reference: what can be tested of them without a GPU.
#include "tests/kernels/cuda_on_cpu.h"

#include <gtest/gtest.h>

#include "kernels/cuda/append_slots.cuh"
#include "kernels/cuda/decode_attention.cuh"
#include "kernels/cuda/decode_attention_matrix.cuh"
#include "kernels/cuda/gather_slots.cuh"
#include "kernels/reference/check_gather.h"
#include "tests/kernels/append_case.h"
#include "tests/kernels/gather_case.h"
#include "tests/kernels/ragged_decode_case.h"

namespace winnow::kernels {
namespace {

using testing::AppendCase;
using testing::DecodeCase;
using testing::GatherCase;
using testing::RaggedDecodeCase;

// As cuda_decode_attention() launches.
template <class T>
void run_kernels(const CudaDecodeAttentionArgs& args) {
  const cuda::DecodeLaunch launch = cuda::plan_launch(args);
  constexpr int kVector = 16 / static_cast<int>(sizeof(T));
  const cuda::Index grid = {static_cast<unsigned>(launch.parts), static_cast<unsigned>(args.kv_heads),
                            static_cast<unsigned>((args.group + kCudaGroupTile - 1) / kCudaGroupTile)};
  cuda::launch_on_cpu(grid, cuda::kThreads, [&] {
    if constexpr (sizeof(T) == 2) {
      if (cuda::takes_tensor_core<T>(launch)) {
        if (launch.head_dim == 64) return cuda::attend_matrix_part<T, 64>(launch);
        if (launch.head_dim == 128) return cuda::attend_matrix_part<T, 128>(launch);
        return cuda::attend_matrix_part<T, 256>(launch);
      }
    }
    if (launch.head_dim % kVector == 0) {
      cuda::attend_part<T, kVector>(launch);
    } else {
      cuda::attend_part<T, 1>(launch);
    }
  });
  if (launch.direct) return;
  cuda::launch_on_cpu({static_cast<unsigned>(args.kv_heads * args.group), 1, 1}, cuda::kThreads, [&] { cuda::merge_parts<T>(launch); });
}

template <class Change>
void attend(const RaggedDecodeCase& problem, std::int64_t parts, RaggedDecodeCase::Result& result, Change change) {
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
  change(args);
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
}

RaggedDecodeCase::Result attend(const RaggedDecodeCase& problem, std::int64_t parts, bool probabilities) {
  RaggedDecodeCase::Result result;
  attend(problem, parts, result, [&](CudaDecodeAttentionArgs& args) {
    if (!probabilities) return;
    args.probability_stride = problem.probability_stride();
    result.probabilities.assign(problem.query_heads() * static_cast<std::size_t>(args.probability_stride), -7.0F);
    args.probabilities = result.probabilities.data();
  });
  return result;
}

TEST(CudaSource, DecodeAttentionEqualsTheReferenceForEveryTypeHeadSizeAndGroup) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16}) {
    for (const std::int64_t head_dim : {1, 8, 18, 64, 80, 128, 256}) {
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
  const float nan = std::nanf("");
  const std::uint16_t narrow_nan = 0x7FC0;
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    RaggedDecodeCase problem(type, 64, 2, {130}, 3);
    std::memcpy(problem.query.data(), type == ElementType::kFp32 ? static_cast<const void*>(&nan) : &narrow_nan,
                testing::element_bytes(type));  // head 0 only
    for (const std::int64_t parts : {1, 2}) {
      const RaggedDecodeCase::Result result = attend(problem, parts, false);
      EXPECT_TRUE(std::isnan(testing::element_at(result.output, problem.type, 0)));
      EXPECT_TRUE(std::isfinite(testing::element_at(result.output, problem.type, 64)));
    }
  }
}

// The last slots are said by a number on the device; the plan was made for more.
TEST(CudaSource, DecodeAttentionCountsFurtherSlots) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    for (const std::int64_t parts : {1, 3}) {
      const RaggedDecodeCase problem(type, 64, 3, {300, 70}, 5);
      for (const std::int32_t further : {0, 1, 69}) {
        SCOPED_TRACE(::testing::Message() << parts << " parts, " << further << " further");
        std::vector<std::int32_t> first = problem.slots;
        for (std::int32_t& count : first) count -= further;
        RaggedDecodeCase::Result result;
        attend(problem, parts, result, [&](CudaDecodeAttentionArgs& args) {
          args.slots = first.data();
          args.further = &further;
          args.most_further = 69;
        });
        problem.expect_near(result);
      }
    }
  }
}

TEST(CudaSource, PartsFillTheDeviceAndStayLong) {
  EXPECT_EQ(cuda_decode_parts(100, 2, 7, 132), 1);
  EXPECT_EQ(cuda_decode_parts(129, 2, 7, 132), 2);
  EXPECT_EQ(cuda_decode_parts(2048, 2, 7, 132), 16);    // 128 slots each
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

template <class Unit>
void gather_on_cpu(const GatherSlotsArgs& args) {
  const cuda::GatherLaunch launch = cuda::plan_launch(args);
  const cuda::Index grid = {static_cast<unsigned>((launch.longest + cuda::kGatherSlots - 1) / cuda::kGatherSlots),
                            static_cast<unsigned>(args.kv_heads), 1};
  cuda::launch_on_cpu(grid, 32 * cuda::kGatherSlots, [&] { cuda::gather_rows<Unit>(launch); });
}

TEST(CudaSource, GatheredRowsAreTheReferences) {
  for (const std::int64_t row_bytes : {2, 6, 128, 160, 1024}) {
    for (const std::vector<std::int32_t>& counts : {std::vector<std::int32_t>{1}, {130, 0, 63, 64}}) {
      const GatherCase problem(row_bytes, counts);
      SCOPED_TRACE(problem.name());
      const std::vector<std::byte> expected =
          testing::gathered(problem, [](const GatherSlotsArgs& args) { ASSERT_EQ(gather_slots_reference(args), LaunchStatus::kOk); });
      const std::vector<std::byte> actual = testing::gathered(problem, [&](const GatherSlotsArgs& args) {
        ASSERT_EQ(cuda::gathers_vectors(args), row_bytes % 16 == 0);
        cuda::gathers_vectors(args) ? gather_on_cpu<cuda::GatherVector>(args) : gather_on_cpu<std::uint16_t>(args);
      });
      EXPECT_EQ(actual, expected);
    }
  }
}

// Two heads of two-byte rows in blocks of two slots; the second head keeps its slot 0 and gets slot 1 from slot 3.
TEST(GatherSlots, SolvesACaseByHand) {
  std::uint16_t from[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};  // both of head 0, both of head 1
  std::uint16_t to[3][2] = {};                                  // two of head 0, one of head 1
  const void* from_blocks[] = {from[0], from[1], from[2], from[3]};
  void* to_blocks[] = {to[0], to[1], to[2], nullptr};
  const std::int32_t first[] = {0, 1};
  const std::int32_t count[] = {3, 1};
  const std::int32_t sources[] = {3, 0, 2, 3};
  GatherSlotsArgs args;
  args.kv_heads = 2;
  args.row_bytes = 2;
  args.block_slots = 2;
  args.from_key_blocks = args.from_value_blocks = from_blocks;
  args.to_key_blocks = args.to_value_blocks = to_blocks;
  args.from_stride = args.to_stride = 2;
  args.first = first;
  args.count = count;
  args.sources = sources;
  ASSERT_EQ(gather_slots_reference(args), LaunchStatus::kOk);
  EXPECT_EQ(to[0][0], 4);
  EXPECT_EQ(to[0][1], 1);
  EXPECT_EQ(to[1][0], 3);
  EXPECT_EQ(to[1][1], 0) << "untouched";
  EXPECT_EQ(to[2][0], 0) << "untouched";
  EXPECT_EQ(to[2][1], 8);

  const auto expect = [&](LaunchStatus status, const auto& change) {
    GatherSlotsArgs bad = args;
    change(bad);
    EXPECT_EQ(gather_slots_reference(bad), status);
  };
  const std::int32_t beyond[] = {0, 4};
  const std::int32_t negative[] = {-1, 0};
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.row_bytes = 3; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.sources = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.from_value_blocks = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.block_slots = 0; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.first = beyond; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.count = negative; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.kv_heads = kMaxAppendHeads + 1; });
}

}  // namespace
}  // namespace winnow::kernels
