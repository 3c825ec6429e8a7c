// What methods keep that compress before the question, against transformers in fp64 (tests/golden/context, rebuilt by
// tests/golden/make/make_context_golden.py).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

using test_support::GoldenTensors;

const std::string kGolden = source_folder() + "/tests/golden/context";

TEST(ContextGolden, KeepTheSameSlotsOfEveryHead) {
  std::ifstream stream(kGolden + "/cases.json");
  const nlohmann::json cases = nlohmann::json::parse(stream);
  const GoldenTensors golden(kGolden + "/golden.safetensors");
  ASSERT_GE(cases.size(), 30U);
  std::string folder;
  std::unique_ptr<Engine> engine;
  MemoryMediaOpener opener;
  for (const nlohmann::json& entry : cases) {
    SCOPED_TRACE(entry.dump());
    const GoldenFolder model(entry["folder"]);
    if (folder != entry["folder"]) {
      folder = entry["folder"];
      engine = make_engine(&opener);
      LoadModel load{.folder = model.model_folder(), .format = WeightFormat::kFp32};
      EventRecorder events;
      engine->handle({1, load}, events, InterruptToken());
      ASSERT_TRUE(events.last<ModelLoaded>());
    }
    Turn turn{.messages = {model.message("video", opener)},
              .recipe = {.method = entry["method"], .retention = entry["retention"], .min_event_tokens = 0}};
    for (const auto& [name, value] : entry["options"].items()) turn.recipe.options[name] = value;
    turn.sampling.max_new_tokens = 1;
    EventRecorder events;
    engine->handle({2, turn}, events, InterruptToken());
    ASSERT_TRUE(events.last<CacheReport>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no report");
    const CacheReport report = *events.last<CacheReport>();
    const at::Tensor kept = golden.load(entry["name"].get<std::string>() + ".kept");  // [layers, kv heads, n_c]
    ASSERT_EQ(kept.size(0), std::ssize(report.kept));
    const std::int64_t lead = entry["lead"];
    for (std::int64_t layer = 0; layer < kept.size(0); ++layer) {
      for (std::int64_t head = 0; head < kept.size(1); ++head) {
        std::vector<std::int32_t> ours;
        for (const std::int32_t token : report.kept[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)]) {
          if (token >= lead && token < lead + kept.size(2)) ours.push_back(token);
        }
        std::vector<std::int32_t> theirs;
        for (std::int64_t row = 0; row < kept.size(2); ++row) {
          if (kept[layer][head][row].item<std::uint8_t>() != 0) theirs.push_back(static_cast<std::int32_t>(lead + row));
        }
        EXPECT_EQ(ours, theirs) << "layer " << layer << ", head " << head;
      }
    }
  }
}

}  // namespace
}  // namespace winnow::testing
