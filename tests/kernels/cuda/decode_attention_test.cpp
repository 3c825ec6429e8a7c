// Decode attention against its reference.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/device_memory.h"
#include "tests/kernels/ragged_decode_case.h"

namespace winnow::kernels::testing {
namespace {

class CudaDecodeAttention : public testing::OnRunner {};

RaggedDecodeCase::Result attend_slots(const RaggedDecodeCase& problem, std::int64_t parts, bool probabilities) {
  const DeviceDecode device(problem, parts, probabilities);
  EXPECT_EQ(cuda_decode_attention(device.args(), nullptr), LaunchStatus::kOk);
  return device.result();
}

TEST_F(CudaDecodeAttention, EqualsTheReferenceForEveryTypeHeadSizeAndGroup) {
  using Slots = std::vector<std::int32_t>;
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : grid_of({1, 8, 18, 64, 80, 128, 256}, {32, 511, 512})) {
      for (const std::int64_t group : grid_of({1, 7, 9}, {2, 3, 8, 71})) {
        for (const Slots& slots : grid_of<Slots>({{70, 1}}, {{1}, {63, 64, 65}, {1000, 1, 300}, {0x2000}})) {
          if (slots[0] > 1000 && (head_dim > 128 || group > 8)) continue;  // the reference would take minutes
          const RaggedDecodeCase problem(type, head_dim, group, slots, static_cast<unsigned>(head_dim * 100 + group));
          for (const std::int64_t parts : grid_of({1}, {3})) {
            SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " head_dim " << head_dim << " group " << group
                                              << " first head " << slots[0] << " parts " << parts);
            problem.expect_near(attend_slots(problem, parts, parts == 3));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(CudaDecodeAttention, TakesTheLargestHeadSize) {
  for (const std::int64_t head_dim : {511, 512}) {
    SCOPED_TRACE(head_dim);
    const RaggedDecodeCase problem(ElementType::kBf16, head_dim, 2, {65}, 3);
    problem.expect_near(attend_slots(problem, 1, false));
  }
}

TEST_F(CudaDecodeAttention, JoinsTheParts) {
  for (const std::int64_t parts : {1, 2, 3, 7}) {
    for (const std::vector<std::int32_t>& slots : {std::vector<std::int32_t>{400, 63}, {64, 129, 1}}) {
      SCOPED_TRACE(::testing::Message() << parts << " parts, first head " << slots[0]);
      const RaggedDecodeCase problem(ElementType::kBf16, 64, 4, slots, 11);
      problem.expect_near(attend_slots(problem, parts, false));
      problem.expect_near(attend_slots(problem, parts, true));
    }
  }
}

TEST_F(CudaDecodeAttention, OfTheSameInputsIsTheSameBits) {
  const RaggedDecodeCase problem(ElementType::kBf16, 128, 7, {testing::runs_on_card() ? 5000 : 300, 70}, 5);
  const RaggedDecodeCase::Result first = attend_slots(problem, 8, false);
  const RaggedDecodeCase::Result second = attend_slots(problem, 8, false);
  EXPECT_EQ(first.output, second.output);
  EXPECT_EQ(first.log_sum_exp, second.log_sum_exp);
}

TEST_F(CudaDecodeAttention, KeepsNanVisible) {
  const float nan = std::nanf("");
  const std::uint16_t narrow_nan = 0x7FC0;
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    RaggedDecodeCase problem(type, 64, 2, {130}, 3);
    std::memcpy(problem.query.data(), type == ElementType::kFp32 ? static_cast<const void*>(&nan) : &narrow_nan,
                testing::element_bytes(type));  // head 0 only
    for (const std::int64_t parts : {1, 2}) {
      const RaggedDecodeCase::Result result = attend_slots(problem, parts, false);
      EXPECT_TRUE(std::isnan(element(result.output.data(), problem.type, 0)));
      EXPECT_TRUE(std::isfinite(element(result.output.data(), problem.type, 64)));
    }
  }
}

// The last slots are said by a number on the device; the plan was made for more.
TEST_F(CudaDecodeAttention, CountsFurtherSlots) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
    for (const std::int64_t parts : {1, 3}) {
      const RaggedDecodeCase problem(type, 64, 3, {300, 70}, 5);
      for (const std::int32_t further : {0, 1, 69}) {
        SCOPED_TRACE(::testing::Message() << parts << " parts, " << further << " further");
        std::vector<std::int32_t> first = problem.slots;
        for (std::int32_t& count : first) count -= further;
        const DeviceDecode device(problem, parts, false);
        const DeviceMemory count(std::vector<std::int32_t>{further});
        CudaDecodeAttentionArgs args = device.args();
        args.slots = first.data();
        args.further = count.as<std::int32_t>();
        args.most_further = 69;
        ASSERT_EQ(cuda_decode_attention(args, nullptr), LaunchStatus::kOk);
        problem.expect_near(device.result());
      }
    }
  }
}

}  // namespace
}  // namespace winnow::kernels::testing
