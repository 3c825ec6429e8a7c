// Whole turns on a GPU: against transformers' recorded answers, and against the CPU for every compression method.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "engine/api/engine.h"
#include "engine/recipes/method_info.h"
#include "tests/engine/cuda_plugin/cuda_test.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/support/event_recorder.h"
#include "tests/support/golden_cases.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/measured_options.h"
#include "tests/support/tensor_distance.h"

namespace winnow::testing {
namespace {

using test_support::GoldenTensors;
using test_support::NeedsDevice;
using test_support::relative_distance;

class CudaGolden : public NeedsDevice<::testing::TestWithParam<const char*>> {};

// As engine_golden_test.cpp does on the CPU.
TEST_P(CudaGolden, EveryCaseEqualsTransformers) {
  const GoldenFolder golden(GetParam());
  const GoldenTensors theirs(golden.model_folder() + "/../golden.safetensors");
  MemoryMediaOpener opener;
  const std::unique_ptr<Engine> engine = make_engine(&opener);
  EventRecorder loading;
  LoadModel load;
  load.folder = golden.model_folder();
  load.format = WeightFormat::kFp32;
  load.device = Device::kCuda;
  engine->handle({1, load}, loading, InterruptToken());
  ASSERT_TRUE(loading.last<ModelLoaded>()) << (loading.last<Failed>() ? loading.last<Failed>()->error.reason : "no answer");
  for (const auto& [name, entry] : golden.cases().items()) {
    SCOPED_TRACE(name);
    const std::string file = "winnow_cuda_golden_" + std::string(GetParam()) + "_" + name + ".safetensors";
    ExportTurn request;
    request.turn.messages = golden.thread(name, opener);
    request.turn.recipe.method = "full";
    request.turn.recipe.retention = 1.0;
    request.turn.sampling.max_new_tokens = 64;
    request.path = (std::filesystem::temp_directory_path() / file).string();
    EventRecorder events;
    engine->handle({2, request}, events, InterruptToken());
    ASSERT_TRUE(events.last<Finished>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no answer");

    const GoldenTensors ours(request.path);
    EXPECT_TRUE(at::equal(ours.load("input_ids"), theirs.load(name + ".input_ids")));
    EXPECT_LE(relative_distance(ours.load("logits").flatten(), theirs.load(name + ".logits").flatten()), kTolerance);
    if (theirs.has(name + ".features")) {
      const at::Tensor features = theirs.load(name + ".features");
      EXPECT_LE(relative_distance(test_support::kept_columns(ours.load("visual_features"), features), features), kTolerance);
    }
    const at::Tensor generated = ours.load("generated");
    const at::Tensor greedy = theirs.load(name + ".greedy");
    const at::Tensor margins = theirs.load(name + ".margins");
    for (std::int64_t i = 0; i < generated.numel(); ++i) {
      const auto token = generated[i].item<std::int64_t>();
      const auto wanted = greedy[i].item<std::int64_t>();
      if (token != wanted && margins[i].item<float>() <= kMargin) break;  // a tie, and everything after it
      ASSERT_EQ(token, wanted) << "token " << i << ", margin " << margins[i].item<float>();
    }
    std::filesystem::remove(request.path);
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, CudaGolden,
                         ::testing::Values("gqa_tied", "mha_untied", "no_bias_scaled", "head_dim", "select_default", "plain_projector"));

class CudaTurn : public NeedsDevice<::testing::Test> {};

// An engine with the model on a device, and what a turn about the recorded video leaves in the cache.
class EngineOnDevice {
 public:
  EngineOnDevice(Device device, WeightFormat format) : golden_("gqa_tied"), engine_(make_engine(&opener_)) {
    LoadModel load;
    load.folder = golden_.model_folder();
    load.format = format;
    load.device = device;
    engine_->handle({1, load}, loading, InterruptToken());
  }

  EventRecorder turn(const std::string& method, double retention, std::vector<Message> messages, ConversationId conversation) {
    Turn turn{.conversation = conversation, .messages = std::move(messages), .recipe = {.method = method, .retention = retention}};
    const ModelInfo info = loading.last<ModelLoaded>()->info;
    turn.recipe = test_support::as_measured(turn.recipe, info.layers, info.kv_heads);
    turn.sampling.max_new_tokens = 24;
    EventRecorder events;
    engine_->handle({2, turn}, events, InterruptToken());
    return events;
  }

  Message question() { return golden_.message("video", opener_); }

  EventRecorder loading;

 private:
  GoldenFolder golden_;
  MemoryMediaOpener opener_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(CudaTurn, EveryMethodKeepsWhatItKeepsOnTheCpu) {
  EngineOnDevice cpu(Device::kCpu, WeightFormat::kFp32);
  EngineOnDevice gpu(Device::kCuda, WeightFormat::kFp32);
  ASSERT_TRUE(gpu.loading.last<ModelLoaded>()) << gpu.loading.last<Failed>()->error.reason;
  EXPECT_EQ(gpu.loading.last<ModelLoaded>()->info.device, "cuda");
  ConversationId conversation = 0;
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    ++conversation;
    const EventRecorder expected = cpu.turn(method.name, 0.3, {cpu.question()}, conversation);
    const EventRecorder actual = gpu.turn(method.name, 0.3, {gpu.question()}, conversation);
    ASSERT_TRUE(expected.last<Finished>());
    ASSERT_TRUE(actual.last<Finished>()) << actual.last<Failed>()->error.reason;
    const auto theirs = expected.last<CacheReport>()->kept;
    const auto ours = actual.last<CacheReport>()->kept;
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t layer = 0; layer < ours.size(); ++layer) {
      for (std::size_t head = 0; head < ours[layer].size(); ++head) {
        const auto& a = ours[layer][head];
        const auto& b = theirs[layer][head];
        std::vector<std::int32_t> both;
        std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
        // Scores that differ in the last bits may swap neighbours in rank; a budget may move by a slot.
        EXPECT_NEAR(static_cast<double>(a.size()), static_cast<double>(b.size()), 1.0);
        EXPECT_GE(static_cast<double>(both.size()) + 2.0, 0.95 * static_cast<double>(b.size())) << "layer " << layer << " head " << head;
      }
    }
  }
}

TEST_F(CudaTurn, ASecondTurnContinuesOnTheCache) {
  EngineOnDevice cpu(Device::kCpu, WeightFormat::kFp32);
  EngineOnDevice gpu(Device::kCuda, WeightFormat::kFp32);
  std::vector<Message> thread = {cpu.question()};
  const Message again{Role::kUser, {TextItem{"and now?"}}};
  gpu.question();  // puts the pictures there
  const std::string answer = cpu.turn("full", 1.0, thread, 2).last<Finished>()->answer;
  const std::vector<Message> longer = {thread[0], {Role::kAssistant, {TextItem{answer}}}, again};
  const EventRecorder expected = cpu.turn("full", 1.0, longer, 2);
  ASSERT_EQ(gpu.turn("full", 1.0, thread, 2).last<Finished>()->answer, answer);
  const EventRecorder actual = gpu.turn("full", 1.0, longer, 2);
  ASSERT_TRUE(actual.last<Finished>()) << actual.last<Failed>()->error.reason;
  EXPECT_EQ(actual.last<Finished>()->figures.kv_bytes.end, expected.last<Finished>()->figures.kv_bytes.end);
}

TEST_F(CudaTurn, SixteenBitWeightsRunOnTheFlashPath) {
  EngineOnDevice gpu(Device::kCuda, WeightFormat::kBf16);
  ASSERT_TRUE(gpu.loading.last<ModelLoaded>()) << gpu.loading.last<Failed>()->error.reason;
  EXPECT_EQ(gpu.loading.last<ModelLoaded>()->info.dtype, "bf16");
  const EventRecorder events = gpu.turn("snapkv", 0.5, {gpu.question()}, 1);
  ASSERT_TRUE(events.last<Finished>()) << events.last<Failed>()->error.reason;
}

}  // namespace
}  // namespace winnow::testing
