// What happens to slots that leave after a decoded token, against the references: nearest slots, keys of length 1, changed slots.
#include <gtest/gtest.h>

#include <vector>

#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/device_memory.h"
#include "tests/kernels/leaving_case.h"

namespace winnow::kernels {
namespace {

using testing::ChangeCase;
using testing::DeviceMemory;
using testing::grid_of;
using testing::SimilarCase;
using testing::UnitKeysCase;

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
}  // namespace winnow::kernels
