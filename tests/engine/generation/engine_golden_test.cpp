// The whole way from messages to tokens against transformers: ids, features, logits, greedy tokens (tests/golden/llava_onevision).
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/api/engine.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/support/event_recorder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::testing {
namespace {

using test_support::GoldenTensors;
using test_support::relative_distance;

constexpr double kTolerance = 1e-4;  // of the largest absolute value: fp32 sums in another order
constexpr float kMargin = 1e-3F;     // greedy choices closer than this may differ

constexpr const char* kRebuild = "rebuild with tests/golden/make/make_llava_onevision_golden.py if the golden files are wrong";

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
    request.path =
        (std::filesystem::temp_directory_path() / ("winnow_golden_" + std::string(GetParam()) + "_" + name + ".safetensors")).string();
    EventRecorder events;
    engine->handle({2, request}, events, InterruptToken());
    ASSERT_TRUE(events.last<Finished>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no answer");

    const GoldenTensors ours(request.path);
    const GoldenTensors& theirs = golden.tensors();
    EXPECT_TRUE(at::equal(ours.load("input_ids"), theirs.load(name + ".input_ids"))) << kRebuild;
    EXPECT_LE(relative_distance(ours.load("logits"), theirs.load(name + ".logits").view({1, -1})), kTolerance) << kRebuild;
    if (theirs.has(name + ".features")) {
      EXPECT_LE(relative_distance(ours.load("visual_features"), theirs.load(name + ".features")), kTolerance) << kRebuild;
    }
    const at::Tensor generated = ours.load("generated");
    const at::Tensor greedy = theirs.load(name + ".greedy");
    const at::Tensor margins = theirs.load(name + ".margins");
    const bool stopped = events.last<Finished>()->reason == StopReason::kStopToken;
    if (!stopped) {
      EXPECT_EQ(generated.numel(), greedy.numel());
    }
    for (std::int64_t i = 0; i < generated.numel(); ++i) {
      const auto token = generated[i].item<std::int64_t>(), wanted = greedy[i].item<std::int64_t>();
      const auto margin = margins[i].item<float>();
      if (margin <= kMargin && token != wanted) break;  // a tie, and everything after it
      ASSERT_EQ(token, wanted) << "token " << i << ", margin " << margin;
    }
    std::filesystem::remove(request.path);
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, EngineGolden,
                         ::testing::Values("gqa_tied", "mha_untied", "no_bias_scaled", "head_dim", "select_default", "plain_projector"));

}  // namespace
}  // namespace winnow::testing
