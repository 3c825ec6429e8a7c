// Models whose weights stay in few bits on a GPU: what they say is what their numbers say, they take the bytes that they have in their
// file, and a token costs no more than with numbers.
#include <sys/mman.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/layers/device_block_matrix.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/registry.h"
#include "engine/models/weights/block_packing.h"
#include "tests/engine/emulated_gpu/emulated_device.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden_path.h"
#include "tests/support/packed_gguf.h"
#include "tests/support/plain_processor.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::testing {
namespace {

using test_support::relative_distance;

class PackedOnGpu : public OnEmulatedGpu {
 protected:
  static ModelSource source(std::shared_ptr<const ModelPackage> package, at::Device device, const WeightPlan& plan) {
    return {.package = std::move(package), .device = device, .plan = plan};
  }
  static at::Tensor prompt_logits(const VisionLanguageModel& model, const at::Tensor& ids) {
    KvCache cache(model.text().kv_shape());
    return model.text().logits(test_support::prefill(model.text(), model.text().embed(ids), 0, cache)).to(at::kCPU);
  }
  static std::vector<at::Tensor> decoded(const VisionLanguageModel& model, int tokens) {
    KvCache cache(model.text().kv_shape());
    std::vector<at::Tensor> logits;
    for (std::int32_t position = 0; position < tokens; ++position)
      logits.push_back(model.text().decode({position * 7 % 90, position, position}, cache, nullptr));
    return logits;
  }

  c10::InferenceMode inference_;
  test::ScratchFolder scratch_;
};

// Every type that a quantised folder becomes, rows and columns in orders of their own, on the paths of few rows and of many.
TEST_F(PackedOnGpu, AQuantisedFolderSaysWhatTransformersSay) {
  for (const auto& [name, type] : {std::pair("awq", "INT4"),
                                   {"gptq_ordered", "INT4"},
                                   {"gptq_rows", "Q8_0"},
                                   {"packed", "Q4_0"},
                                   {"packed_ordered", "INT4"},
                                   {"packed_rows", "INT8"}}) {
    SCOPED_TRACE(name);
    const std::string folder = test_support::golden_folder(std::string("quantised/") + name);
    const test_support::GoldenTensors golden(folder + "/golden.safetensors");
    const auto package = std::make_shared<HuggingFaceFolder>(folder);
    const WeightPlan as_stored{at::kFloat, nullptr, true};
    const auto packed = load_model(source(package, kEmulatedGpu, as_stored));
    const auto numbers = load_model(source(package, at::kCPU, {}));
    EXPECT_EQ(packed->info().dtype, std::string("fp32, ") + type);
    EXPECT_EQ(packed->info().device, "cuda");
    EXPECT_LT(packed->info().weight_bytes, numbers->info().weight_bytes);
    const WeightPlan automatic{std::nullopt, nullptr, true};
    const auto held = static_cast<std::uint64_t>(load_model(source(package, kEmulatedGpu, automatic))->info().weight_bytes);
    EXPECT_GE(most_bytes_under(automatic, package->tensors()), held);
    EXPECT_LE(most_bytes_under(automatic, package->tensors()), held + held / 10);
    EXPECT_LE(relative_distance(prompt_logits(*packed, golden.load("ids")), golden.load("logits")), 1e-5);
    std::vector<at::Tensor> found;
    const EmulatedGpuCounts cost = cost_of([&] { found = decoded(*packed, 20); });
    EXPECT_EQ(cost.waits, 0);
    EXPECT_EQ(cost.bytes_to_host, 0);
    const std::vector<at::Tensor> expected = decoded(*numbers, 20);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_LE(relative_distance(found[i].to(at::kCPU), expected[i]), 1e-5) << i;
  }
}

// Made on the CPU: the same blocks as there, and the same numbers where the CPU does not round a prompt's rows.
TEST_F(PackedOnGpu, AFolderIsHeldInEightBitsOrFour) {
  const auto package = std::make_shared<HuggingFaceFolder>(test_support::golden_folder("select_default") + "/model");
  for (const auto& [bits, name] : {std::pair(PackedBits::kEight, "int8"), std::pair(PackedBits::kFour, "int4")}) {
    SCOPED_TRACE(name);
    const WeightPlan plan{at::kFloat, std::make_shared<BlockPacking>(bits, kEmulatedGpu)};
    const auto packed = load_model(source(package, kEmulatedGpu, plan));
    const WeightPlan of_cpu{at::kFloat, std::make_shared<BlockPacking>(bits)};
    const auto on_cpu = test_support::on_a_plain_processor([&] { return load_model(source(package, at::kCPU, of_cpu)); });
    EXPECT_EQ(packed->info().dtype, std::string("fp32, ") + name);
    EXPECT_EQ(packed->info().weight_bytes, on_cpu->info().weight_bytes);
    EXPECT_EQ(packed->info().parameter_count, on_cpu->info().parameter_count);
    EXPECT_LE(relative_distance(prompt_logits(*packed, at::arange(12)), prompt_logits(*on_cpu, at::arange(12))), 1e-5);
    EXPECT_EQ(packed->text().embed(at::arange(3)).device(), kEmulatedGpu);
    const WeightPlan automatic{std::nullopt, plan.packing, true};
    const std::uint64_t foreseen = most_bytes_under(automatic, package->tensors());
    const auto held = load_model(source(package, kEmulatedGpu, automatic))->info();
    EXPECT_EQ(held.dtype, std::string("bf16, ") + name) << "the folder is in bf16";
    EXPECT_GE(foreseen, static_cast<std::uint64_t>(held.weight_bytes));
    EXPECT_LT(foreseen, most_bytes_under({std::nullopt}, package->tensors()));
  }
}

TEST_F(PackedOnGpu, WeightsThatDoNotFitAreAnErrorThatSaysSo) {
  constexpr std::size_t kBytes = std::size_t{34} << 28;  // more than there is; nobody reads them
  void* const there = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(there, MAP_FAILED);
  const BlockRows rows{kernels::BlockType::kQ8_0, {static_cast<const std::byte*>(there), kBytes}, std::int64_t{1} << 21};
  test::expect_error(ErrorCode::kOutOfMemory, "packed weights", [&] { DeviceBlockMatrix({rows}, 4096, at::kFloat, kEmulatedGpu); });
  munmap(there, kBytes);
}

// Whole requests of a GGUF file. Where most of its numbers are in fp32 so is the arithmetic, and the CPU says the same to the word.
class PackedGgufOnGpu : public PackedOnGpu {
 protected:
  static constexpr const char* kFolder = "smolvlm/smolvlm2_split";

  std::string packed(const std::string& name, const std::function<bool(const std::string&)>& packs) {
    return scratch_.write(name, in_blocks(test_support::golden_folder(kFolder) + "/gguf/model.gguf", packs));
  }
  static EngineOn load(Device device, WeightFormat format, const std::string& model) {
    return EngineOn(device, kFolder, format, model, test_support::golden_folder(kFolder) + "/gguf/mmproj-model.gguf");
  }
  static Turn ask(EngineOn& engine, const std::string& method, int tokens) {
    Turn turn;
    turn.conversation = 7;
    turn.messages = {engine.question("image")};
    turn.recipe.method = method;
    turn.recipe.retention = method == "full" ? 1.0 : 0.3;
    turn.recipe.min_event_tokens = 0;
    turn.sampling.max_new_tokens = tokens;
    return turn;
  }
};

TEST_F(PackedGgufOnGpu, SaysWhatItsNumbersSayOnTheCpu) {
  const std::string model = packed("layers.gguf", [](const std::string& name) {
    return name.find("ffn_up") != std::string::npos || name.find("attn_q") != std::string::npos;
  });
  EngineOn cpu = load(Device::kCpu, WeightFormat::kFp32, model);
  EngineOn gpu = load(Device::kCuda, WeightFormat::kAuto, model);
  EXPECT_EQ(cpu.info.dtype, "fp32");
  EXPECT_EQ(gpu.info.dtype, "fp32, Q8_0");
  EXPECT_LT(gpu.info.weight_bytes, cpu.info.weight_bytes);
  for (const char* method : {"full", "snapkv", "kvzip"}) {
    SCOPED_TRACE(method);
    const EventRecorder expected = cpu.run(ask(cpu, method, 24));
    const EventRecorder found = gpu.run(ask(gpu, method, 24));
    ASSERT_TRUE(expected.last<Finished>()) << EngineOn::reason(expected);
    ASSERT_TRUE(found.last<Finished>()) << EngineOn::reason(found);
    EXPECT_EQ(found.last<Finished>()->answer, expected.last<Finished>()->answer);
    EXPECT_EQ(found.last<CacheReport>()->kept, expected.last<CacheReport>()->kept);
  }
}

// Norms alone are numbers: they say nothing of the arithmetic.
TEST_F(PackedGgufOnGpu, IsComputedIn16BitsWhereAllMatricesAreInFewer) {
  const std::string model = packed("all.gguf", [](const std::string&) { return true; });
  EngineOn gpu(Device::kAuto, kFolder, WeightFormat::kAuto, model, {});
  EXPECT_EQ(gpu.info.device, "cuda");
  EXPECT_EQ(gpu.info.dtype, "bf16, Q8_0");
  EXPECT_EQ(gpu.info.traits.kv_bits, 16);
  Turn turn{.conversation = 7, .messages = {{Role::kUser, {TextItem{"What is there?"}}}}, .sampling = {.max_new_tokens = 8}};
  const EventRecorder events = gpu.run(turn);
  ASSERT_TRUE(events.last<Finished>()) << EngineOn::reason(events);
  EXPECT_EQ(EngineOn(Device::kCuda, kFolder, WeightFormat::kBf16, model, {}).info.dtype, "bf16");
}

}  // namespace
}  // namespace winnow::testing
