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
#include "tests/kernels/leaving_case.h"
#include "tests/kernels/rotate_append_case.h"

namespace winnow::kernels::testing {
namespace {

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

// What happens to slots that leave after a decoded token, against the references: nearest slots, keys of length 1, changed slots.
class CudaLeavingSlots : public testing::OnRunner {};

TEST_F(CudaLeavingSlots, NearestSlotsAreTheReferences) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : grid_of({1, 20, 130}, {64, 128, 256})) {
      SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " head_dim " << head_dim);
      const SimilarCase problem(type, head_dim, grid_of<std::int32_t>({1, 2, 63, 530}, {700, 64, 5000, 512}));
      const DeviceMemory keys(problem.keys);
      const DeviceMemory values(problem.values);
      const DeviceMemory of_keys(problem.table(keys.bytes()));
      const DeviceMemory of_values(problem.table(values.bytes()));
      const DeviceMemory among(problem.among);
      const DeviceMemory asked(
          problem.asked(of_keys.as<const void* const>(), of_values.as<const void* const>(), among.as<const std::uint32_t>()));
      const DeviceMemory found(std::vector<SimilarFound>(problem.slots.size() * static_cast<std::size_t>(problem.parts())));
      ASSERT_EQ(cuda_nearest_slots(problem.args(asked.as<SimilarAsked>(), found.as<SimilarFound>()), nullptr), LaunchStatus::kOk);
      problem.expect_near(found.copy<SimilarFound>());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(CudaLeavingSlots, UnitKeysAreTheReferences) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : grid_of({2, 24, 130}, {64, 80, 128, 256, 512})) {
      for (const bool rotated : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " head_dim " << head_dim << " rotated " << rotated);
        UnitKeysCase problem(type, head_dim, rotated, testing::runs_on_card() ? 112 : 5);
        const DeviceMemory rows(problem.rows);
        const DeviceMemory keys(problem.keys(rows.bytes()));
        const DeviceMemory frequencies(problem.frequencies);
        const DeviceMemory lengths(std::vector<float>(static_cast<std::size_t>(problem.count)));
        ASSERT_EQ(cuda_unit_keys(problem.args(keys.as<UnitKey>(), frequencies.as<float>(), lengths.as<float>()), nullptr),
                  LaunchStatus::kOk);
        problem.expect_near(rows.copy<std::byte>(), lengths.copy<float>());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(CudaLeavingSlots, ChangedSlotsAreTheReferencesToTheBit) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : grid_of({1, 64, 130}, {128, 512})) {
      for (const std::int64_t lists : grid_of({1, 7}, {112})) {
        SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " head_dim " << head_dim << " lists " << lists);
        ChangeCase problem(type, head_dim, lists);
        const DeviceMemory keys(problem.keys);
        const DeviceMemory values(problem.values);
        const DeviceMemory changes(problem.changes(keys.bytes(), values.bytes()));
        const DeviceMemory begin(problem.begin);
        ASSERT_EQ(cuda_change_slots(problem.args(changes.as<SlotChange>(), begin.as<std::int32_t>()), nullptr), LaunchStatus::kOk);
        const std::vector<SlotChange> wanted = problem.changes(problem.keys.data(), problem.values.data());
        ASSERT_EQ(cuda_change_slots_reference(problem.args(wanted.data(), problem.begin.data())), LaunchStatus::kOk);
        EXPECT_EQ(keys.copy<std::byte>(), problem.keys);
        EXPECT_EQ(values.copy<std::byte>(), problem.values);
      }
    }
  }
}

}  // namespace
}  // namespace winnow::kernels::testing
