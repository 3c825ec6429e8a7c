// The CUDA kernels of slots that leave after a decoded token, on a device, against kernels/reference.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tests/kernels/device_memory.h"
#include "tests/kernels/leaving_case.h"
#include "tests/kernels/on_cuda_device.h"

namespace winnow::kernels {
namespace {

using testing::ChangeCase;
using testing::DeviceMemory;
using testing::SimilarCase;

class CudaLeaving : public testing::OnCudaDevice {};

TEST_F(CudaLeaving, SimilarSlotsAreTheReferences) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : {1, 20, 64, 128, 256}) {
      SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " head_dim " << head_dim);
      const SimilarCase problem(type, head_dim, {1, 2, 700, 63, 5000, 512});
      const DeviceMemory keys(problem.keys);
      const DeviceMemory table(problem.table(keys.bytes()));
      const DeviceMemory asked(problem.asked(table.as<const void* const>()));
      const DeviceMemory found(std::vector<SimilarFound>(problem.slots.size() * static_cast<std::size_t>(problem.parts())));
      ASSERT_EQ(cuda_similar_slots(problem.args(asked.as<SimilarAsked>(), found.as<SimilarFound>()), nullptr), LaunchStatus::kOk);
      problem.expect_near(found.copy<SimilarFound>());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(CudaLeaving, ChangedSlotsAreTheReferencesToTheBit) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : {1, 64, 128, 130, 512}) {
      for (const std::int64_t lists : {1, 112}) {
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
