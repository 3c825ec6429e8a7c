// What the formats of weights mean on each device, and for which matrices.
#include "engine/models/weights/weight_format.h"

#include <gtest/gtest.h>

#include "engine/models/weights/block_packing.h"
#include "engine/models/weights/weight_reader.h"
#include "engine/weights/safetensors_writer.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

const at::Device kGpu(at::kCUDA, 0);

TEST(WeightsAs, AutoKeepsWhatIsStored) {
  const WeightPlan on_gpu = weights_as(WeightFormat::kAuto, VisionFormat::kAuto, kGpu);
  EXPECT_EQ(on_gpu.arithmetic, std::nullopt);
  EXPECT_TRUE(on_gpu.matrices_as_stored);
  EXPECT_FALSE(on_gpu.narrow_cache) << "16-bit arithmetic has a 16-bit cache anyway";
  const WeightPlan on_cpu = weights_as(WeightFormat::kAuto, VisionFormat::kAuto, at::kCPU);
  EXPECT_NE(on_cpu.arithmetic, std::nullopt) << "libtorch's fp16 is slow there";
  EXPECT_TRUE(on_cpu.matrices_as_stored);
  EXPECT_TRUE(on_cpu.narrow_cache);
  EXPECT_EQ(on_cpu.packing, nullptr);
}

TEST(WeightsAs, Fp32IsFp32Everywhere) {
  for (const at::Device device : {at::Device(at::kCPU), kGpu}) {
    const WeightPlan plan = weights_as(WeightFormat::kFp32, VisionFormat::kAuto, device);
    EXPECT_EQ(plan.arithmetic, at::kFloat);
    EXPECT_EQ(plan.packing, nullptr);
    EXPECT_FALSE(plan.matrices_as_stored);
    EXPECT_FALSE(plan.narrow_cache);
  }
}

// On a CPU without bf16 instructions the matrices alone are bf16.
TEST(WeightsAs, Bf16HoldsMatricesIn16Bits) {
  EXPECT_EQ(weights_as(WeightFormat::kBf16, VisionFormat::kAuto, kGpu).arithmetic, at::kBFloat16);
  const WeightPlan on_cpu = weights_as(WeightFormat::kBf16, VisionFormat::kAuto, at::kCPU);
  if (on_cpu.arithmetic == at::kBFloat16) {
    EXPECT_EQ(on_cpu.packing, nullptr);
  } else {
    ASSERT_NE(on_cpu.packing, nullptr);
    EXPECT_EQ(on_cpu.packing->most_bits(64), 16.0);
  }
}

TEST(WeightsAs, FewBitsQuantiseMatricesAndKeepWhatIsQuantised) {
  for (const at::Device device : {at::Device(at::kCPU), kGpu}) {
    const WeightPlan eight = weights_as(WeightFormat::kInt8, VisionFormat::kAuto, device);
    const WeightPlan four = weights_as(WeightFormat::kInt4, VisionFormat::kAuto, device);
    ASSERT_TRUE(eight.packing && four.packing);
    EXPECT_EQ(eight.packing->name(), "int8");
    EXPECT_EQ(four.packing->name(), "int4");
    EXPECT_TRUE(eight.matrices_as_stored && four.matrices_as_stored);
  }
}

TEST(WeightsAs, VisionEncodersInEightBitsBesideAnyDecoder) {
  for (const WeightFormat format : {WeightFormat::kAuto, WeightFormat::kFp32, WeightFormat::kInt4}) {
    EXPECT_EQ(weights_as(format, VisionFormat::kAuto, at::kCPU).vision_packing, nullptr);
    for (const at::Device device : {at::Device(at::kCPU), kGpu}) {
      EXPECT_EQ(weights_as(format, VisionFormat::kInt8, device).vision_packing->name(), "int8");
    }
  }
}

TEST(WeightsAs, LargeMatricesOfVisionEncodersHaveAPackingOfTheirOwn) {
  const c10::InferenceMode inference;
  const test::ScratchFolder folder;
  at::manual_seed(3);
  const at::Tensor large = at::randn({1024, 512});
  const at::Tensor small = at::randn({1023, 512});
  write_safetensors(folder.file("model.safetensors"), {{"large.weight", large}, {"small.weight", small}});
  ModelWeights weights(open_weight_files(folder.path()), {});
  WeightPlan plan{at::kFloat};
  plan.vision_packing = std::make_shared<BlockPacking>(PackedBits::kEight);
  WeightReader reader(weights, plan, at::kCPU);
  const auto none = WeightReader::Bias::kNone;
  EXPECT_TRUE(at::equal(reader.tower_linear("small", 1023, 512, none).weight.columns(0, 512), small));
  EXPECT_TRUE(at::equal(reader.packable_linear({{"large", 1024}}, 512, none).weight.columns(0, 512), large)) << "of the decoder";
  EXPECT_EQ(reader.plan_name(), "fp32");
  const LinearWeight packed = reader.tower_linear("large", 1024, 512, none).weight;
  EXPECT_EQ(packed.bytes(), 1024 * 512 / 32 * 34);
  EXPECT_LT((packed.columns(0, 512) - large).abs().max().item<float>(), 0.02F) << "half a step of the largest in 32";
  EXPECT_EQ(reader.plan_name(), "fp32, vision int8");
}

}  // namespace
}  // namespace winnow
