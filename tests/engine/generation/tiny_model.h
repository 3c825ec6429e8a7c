// A tiny random model in an engine, with its questions: what turns and comparisons are tested on. What it says means nothing.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/api/engine.h"
#include "engine/recipes/method_info.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/support/event_recorder.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/measured_options.h"

namespace winnow::testing {

class TinyModel : public ::testing::Test {
 protected:
  // folder: as GoldenFolder has it.
  explicit TinyModel(const std::string& folder = "gqa_tied") : golden_(folder) {}

  void SetUp() override {
    LoadModel load{.folder = golden_.model_folder(), .format = WeightFormat::kFp32};
    EventRecorder events;
    engine_->handle({1, load}, events, InterruptToken());
    ASSERT_TRUE(events.last<ModelLoaded>());
    info_ = events.last<ModelLoaded>()->info;
  }

  Turn ask(const std::string& name, const std::string& method, double retention, int tokens = 8) {
    Turn turn;
    turn.conversation = 7;
    turn.messages = {golden_.message(name, opener_)};
    turn.recipe.method = method;
    turn.recipe.retention = retention;
    turn.recipe.min_event_tokens = 0;
    turn.recipe = test_support::as_measured(turn.recipe, info_.layers, info_.kv_heads);
    turn.sampling.max_new_tokens = tokens;
    return turn;
  }

  EventRecorder run(const RequestBody& body, const InterruptToken& interrupt = {}) {
    EventRecorder events;
    engine_->handle({2, body}, events, interrupt);
    return events;
  }

  // A GPU moves a layer's heads at once: its old blocks and its new ones are there together.
  bool on_gpu() const { return info_.device == "cuda"; }

  // Skips what the engine refuses where it runs, and says why.
  void skip_unless_legal(const RecipeSpec& recipe) const {
    if (const auto problem = recipe_problem(recipe, info_.traits)) GTEST_SKIP() << problem->reason;
  }

  static Finished finished(const EventRecorder& events) {
    EXPECT_TRUE(events.last<Finished>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no outcome");
    return events.last<Finished>().value_or(Finished{});
  }

  GoldenFolder golden_;
  MemoryMediaOpener opener_;
  std::unique_ptr<Engine> engine_ = make_engine(&opener_);
  ModelInfo info_;
};

// The same with folders of several families.
class EveryFamily : public TinyModel, public ::testing::WithParamInterface<const char*> {
 protected:
  EveryFamily() : TinyModel(GetParam()) {}

  // Presets that the model can be asked for.
  std::vector<MethodInfo> legal_methods() {
    std::vector<MethodInfo> legal = list_methods();
    std::erase_if(legal,
                  [&](const MethodInfo& method) { return recipe_problem(ask("text", method.name, 0.2).recipe, info_.traits).has_value(); });
    return legal;
  }
};

inline auto tiny_families() {
  return ::testing::Values("gqa_tied", "qwen2_vl/published", "qwen2_5_vl/saved", "qwen3_vl/published", "qwen3_5/published",
                           "qwen3_5_moe/published", "smolvlm/smolvlm2_split", "llava/next_mistral", "llava/next_window",
                           "internvl/qwen2_saved", "gemma3/published", "gemma3/plain_pillow", "gemma4/published", "gemma4_large/dense",
                           "gemma4_experts/saved", "gemma4_unified/published", "glm4v/flash", "glm4v_moe/published", "lfm2_vl/published",
                           "minicpmv/published", "minicpmv4_7/published", "mistral3/ministral");
}

inline Turn follow_up(const Turn& first, const std::string& answer, const std::string& question) {
  Turn turn = first;
  turn.messages.push_back({Role::kAssistant, {TextItem{answer}}});
  turn.messages.push_back({Role::kUser, {TextItem{question}}});
  return turn;
}

inline Compare compare_of(const Turn& turn, std::vector<RecipeSpec> recipes) {
  return {.conversation = turn.conversation,
          .messages = turn.messages,
          .sampling = turn.sampling,
          .recipes = std::move(recipes),
          .pins = turn.pins};
}

}  // namespace winnow::testing
