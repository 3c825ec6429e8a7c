// Appended, gathered, and rotated and appended rows of cache blocks, against their references.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/api/append_slots.h"
#include "kernels/api/cuda_rotate_append.h"
#include "kernels/api/gather_slots.h"
#include "tests/kernels/append_case.h"
#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/device_memory.h"
#include "tests/kernels/gather_case.h"
#include "tests/kernels/rotate_append_case.h"

namespace winnow::kernels {
namespace {

using testing::AppendCase;
using testing::DeviceMemory;
using testing::GatherCase;
using testing::grid_of;

class CudaSlots : public testing::OnRunner {};

TEST_F(CudaSlots, AppendedRowsLieWhereTheReferencePutsThem) {
  for (const std::int64_t bytes : {2, 4}) {
    for (const std::int64_t tokens : grid_of({1, 3, 130}, {1000})) {
      for (const std::int64_t head_dim : grid_of({3, 64}, {128})) {
        SCOPED_TRACE(::testing::Message() << bytes << " bytes, " << tokens << " tokens, head_dim " << head_dim);
        AppendCase expected(bytes, tokens, head_dim, {0, 63, 130});
        AppendCase actual(bytes, tokens, head_dim, {0, 63, 130});
        ASSERT_EQ(append_slots_reference(expected.args()), LaunchStatus::kOk);
        AppendSlotsArgs args = actual.args();
        const DeviceMemory source(actual.source());
        const DeviceMemory blocks(actual.memory());
        const auto there = [&](void* const* host) {
          std::vector<std::byte*> pointers;
          for (std::int64_t i = 0; i < args.kv_heads * args.table_stride; ++i)
            pointers.push_back(blocks.bytes() + (static_cast<std::byte*>(host[i]) - actual.memory().data()));
          return DeviceMemory(pointers);
        };
        const DeviceMemory keys = there(args.key_blocks);
        const DeviceMemory values = there(args.value_blocks);
        args.value = source.bytes() + (static_cast<const std::byte*>(args.value) - static_cast<const std::byte*>(args.key));
        args.key = source.bytes();
        args.key_blocks = keys.as<void* const>();
        args.value_blocks = values.as<void* const>();
        ASSERT_EQ(cuda_append_slots(args, nullptr), LaunchStatus::kOk);
        EXPECT_EQ(blocks.copy<std::byte>(), expected.memory());
      }
    }
  }
}

TEST_F(CudaSlots, GatheredRowsAreTheReferences) {
  using Counts = std::vector<std::int32_t>;
  for (const std::int64_t row_bytes : {2, 6, 128, 160, 1024}) {
    for (const Counts& counts : grid_of<Counts>({{1}, {130, 0, 63, 64}}, {{5000, 2}})) {
      GatherCase problem(row_bytes, counts);
      SCOPED_TRACE(problem.name());
      const std::vector<std::byte> expected =
          testing::gathered(problem, [](const GatherSlotsArgs& args) { ASSERT_EQ(gather_slots_reference(args), LaunchStatus::kOk); });
      const DeviceMemory from(problem.from());
      const DeviceMemory to(problem.to());
      const DeviceMemory sources(problem.sources());
      const DeviceMemory from_table(problem.from_table(from.bytes()));
      const DeviceMemory to_table(problem.to_table(to.bytes()));
      const GatherSlotsArgs args = problem.args(from_table.as<std::byte*>(), to_table.as<std::byte*>(), sources.as<std::int32_t>());
      ASSERT_EQ(cuda_gather_slots(args, nullptr), LaunchStatus::kOk);
      EXPECT_EQ(to.copy<std::byte>(), expected);
    }
  }
}

TEST_F(CudaSlots, ATokenIsRotatedAndAppendedAsByTheReference) {
  const std::vector<std::int32_t> slots = grid_of<std::int32_t>({0, 63, 130}, {1000});
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t half : grid_of({1, 5, 32, 64}, {128})) {
      for (const std::int64_t heads : grid_of({1, 14}, {64})) {
        SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " half " << half << " heads " << heads);
        testing::RotateAppendCase expected(type, heads, slots, half);
        testing::RotateAppendCase actual = expected;
        ASSERT_EQ(cuda_rotate_append_reference(expected.args()), LaunchStatus::kOk);
        const DeviceMemory input(actual.input);
        const DeviceMemory cosine(actual.cosine);
        const DeviceMemory sine(actual.sine);
        const DeviceMemory queries(actual.queries);
        const DeviceMemory blocks(actual.blocks);
        const DeviceMemory table(actual.table(blocks.bytes()));
        const CudaRotateAppendArgs args =
            actual.args(input.bytes(), cosine.bytes(), sine.bytes(), queries.bytes(), table.as<void* const>());
        ASSERT_EQ(cuda_rotate_append(args, nullptr), LaunchStatus::kOk);
        actual.queries = queries.copy<std::byte>();
        actual.blocks = blocks.copy<std::byte>();
        actual.expect_near(expected);
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace winnow::kernels
