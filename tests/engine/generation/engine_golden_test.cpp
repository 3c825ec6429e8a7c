// The whole way from messages to tokens against transformers: ids, features, logits, greedy tokens (tests/golden/llava_onevision).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "engine/api/engine.h"
#include "golden_folder.h"
#include "tests/support/event_recorder.h"

namespace winnow::testing {
namespace {

constexpr double kTolerance = 1e-4;  // of the largest absolute value: fp32 sums in another order
constexpr float kMargin = 1e-3F;     // greedy choices closer than this may differ

constexpr const char* kRebuild = "rebuild with tests/golden/make/make_llava_onevision_golden.py if the golden files are wrong";

double relative_difference(const std::vector<float>& ours, const std::vector<float>& theirs) {
  if (ours.size() != theirs.size()) return 1e9;
  double largest = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(theirs[i])));
    difference = std::max(difference, std::abs(static_cast<double>(ours[i]) - theirs[i]));
  }
  return difference / std::max(largest, 1e-12);
}

class EngineGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(EngineGolden, EveryCaseEqualsTransformers) {
  const GoldenFolder golden(GetParam());
  MemoryMediaOpener opener;
  const std::unique_ptr<Engine> engine = make_engine(&opener);
  EventRecorder loading;
  LoadModel load;
  load.folder = golden.model_folder();
  load.format = WeightFormat::kFp32;
  engine->handle({1, load}, loading, InterruptToken());
  ASSERT_TRUE(loading.last<ModelLoaded>()) << (loading.last<Failed>() ? loading.last<Failed>()->error.reason : "no answer");

  for (const auto& [name, entry] : golden.cases().items()) {
    SCOPED_TRACE(std::string(GetParam()) + "/" + name);
    ExportTurn request;
    request.turn.messages = {golden.message(name, opener)};
    request.turn.recipe.method = "full";
    request.turn.recipe.retention = 1.0;
    request.turn.sampling.max_new_tokens = 64;
    request.path = (std::filesystem::temp_directory_path() / ("winnow_golden_" + std::string(GetParam()) + "_" + name + ".safetensors")).string();
    EventRecorder events;
    engine->handle({2, request}, events, InterruptToken());
    ASSERT_TRUE(events.last<Finished>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no answer");

    const SafetensorsFile ours(request.path);
    EXPECT_EQ(read_tensor<std::int64_t>(ours, "input_ids"), read_tensor<std::int64_t>(golden.tensors(), name + ".input_ids")) << kRebuild;
    EXPECT_LE(relative_difference(read_tensor<float>(ours, "logits"), read_tensor<float>(golden.tensors(), name + ".logits")), kTolerance)
        << kRebuild;
    if (golden.tensors().tensors().contains(name + ".features")) {
      EXPECT_LE(relative_difference(read_tensor<float>(ours, "visual_features"), read_tensor<float>(golden.tensors(), name + ".features")),
                kTolerance)
          << kRebuild;
    }
    const auto generated = read_tensor<std::int64_t>(ours, "generated");
    const auto greedy = read_tensor<std::int64_t>(golden.tensors(), name + ".greedy");
    const auto margins = read_tensor<float>(golden.tensors(), name + ".margins");
    const bool stopped = events.last<Finished>()->reason == StopReason::kStopToken;
    if (!stopped) EXPECT_EQ(generated.size(), greedy.size());
    for (std::size_t i = 0; i < generated.size(); ++i) {
      if (margins[i] <= kMargin && generated[i] != greedy[i]) break;  // a tie, and everything after it
      ASSERT_EQ(generated[i], greedy[i]) << "token " << i << ", margin " << margins[i];
    }
    std::filesystem::remove(request.path);
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, EngineGolden,
                         ::testing::Values("gqa_tied", "mha_untied", "no_bias_scaled", "head_dim", "select_default", "plain_projector"));

}  // namespace
}  // namespace winnow::testing
