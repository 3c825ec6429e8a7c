// What the formats of weights mean on each device.
#include "engine/models/weights/weight_format.h"

#include <gtest/gtest.h>

namespace winnow {
namespace {

const at::Device kGpu(at::kCUDA, 0);

TEST(WeightsAs, AutoKeepsWhatIsStored) {
  const WeightPlan on_gpu = weights_as(WeightFormat::kAuto, kGpu);
  EXPECT_EQ(on_gpu.arithmetic, std::nullopt);
  EXPECT_TRUE(on_gpu.matrices_as_stored);
  EXPECT_FALSE(on_gpu.narrow_cache) << "16-bit arithmetic has a 16-bit cache anyway";
  const WeightPlan on_cpu = weights_as(WeightFormat::kAuto, at::kCPU);
  EXPECT_NE(on_cpu.arithmetic, std::nullopt) << "libtorch's fp16 is slow there";
  EXPECT_TRUE(on_cpu.matrices_as_stored);
  EXPECT_TRUE(on_cpu.narrow_cache);
  EXPECT_EQ(on_cpu.packing, nullptr);
}

TEST(WeightsAs, Fp32IsFp32Everywhere) {
  for (const at::Device device : {at::Device(at::kCPU), kGpu}) {
    const WeightPlan plan = weights_as(WeightFormat::kFp32, device);
    EXPECT_EQ(plan.arithmetic, at::kFloat);
    EXPECT_EQ(plan.packing, nullptr);
    EXPECT_FALSE(plan.matrices_as_stored);
    EXPECT_FALSE(plan.narrow_cache);
  }
}

// On a CPU without bf16 instructions the matrices alone are bf16.
TEST(WeightsAs, Bf16HoldsMatricesIn16Bits) {
  EXPECT_EQ(weights_as(WeightFormat::kBf16, kGpu).arithmetic, at::kBFloat16);
  const WeightPlan on_cpu = weights_as(WeightFormat::kBf16, at::kCPU);
  if (on_cpu.arithmetic == at::kBFloat16) {
    EXPECT_EQ(on_cpu.packing, nullptr);
  } else {
    ASSERT_NE(on_cpu.packing, nullptr);
    EXPECT_EQ(on_cpu.packing->most_bits(64), 16.0);
  }
}

TEST(WeightsAs, FewBitsQuantiseMatricesAndKeepWhatIsQuantised) {
  for (const at::Device device : {at::Device(at::kCPU), kGpu}) {
    const WeightPlan eight = weights_as(WeightFormat::kInt8, device);
    const WeightPlan four = weights_as(WeightFormat::kInt4, device);
    ASSERT_TRUE(eight.packing && four.packing);
    EXPECT_EQ(eight.packing->name(), "int8");
    EXPECT_EQ(four.packing->name(), "int4");
    EXPECT_TRUE(eight.matrices_as_stored && four.matrices_as_stored);
  }
}

}  // namespace
}  // namespace winnow
