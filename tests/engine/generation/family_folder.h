// Every golden folder as a model that can be asked: vision-language models, and the language models, which have no tokenizer of their own
// and get one whose tokens are characters. Media and texts are made up. A folder is one line of family_folders(), or one
// of vision_folders(). Not among them: one that refuses a single image.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/engine.h"
#include "engine/base/json_document.h"
#include "tests/support/event_recorder.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/golden_path.h"
#include "tests/support/measured_options.h"
#include "tests/support/memory_media.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/vision_folders.h"

namespace winnow::testing {

inline auto family_folders() {
  std::vector<const char*> folders = {"text_models/llama_tied",
                                      "text_models/llama_biased",
                                      "text_models/llama_dynamic",
                                      "text_models/llama_longrope",
                                      "text_models/mistral",
                                      "text_models/mistral_window",
                                      "text_models/qwen2",
                                      "text_models/qwen2_window",
                                      "text_models/qwen3",
                                      "text_models/qwen3_moe",
                                      "text_models/falcon_7b",
                                      "text_models/falcon_11b",
                                      "text_models/falcon_40b",
                                      "text_models/falcon_sequential",
                                      "text_models/gemma3",
                                      "text_models/gemma3_untied",
                                      "text_models/smollm3",
                                      "recurrent_text/lfm2",
                                      "quantised/awq",
                                      "quantised/packed_ordered"};
  for (const char* const folder : test_support::vision_folders()) {
    if (std::string_view(folder) != test_support::kRefusesAnImage) folders.push_back(folder);
  }
  return ::testing::ValuesIn(folders);
}

class FamilyFolder : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    LoadModel load{.folder = model_folder(), .format = WeightFormat::kFp32};
    const EventRecorder events = run(load);
    ASSERT_TRUE(events.last<ModelLoaded>()) << reason(events);
    info_ = events.last<ModelLoaded>()->info;
  }

  EventRecorder run(const RequestBody& body) {
    EventRecorder events;
    engine_->handle({2, body}, events, InterruptToken());
    return events;
  }

  static std::string reason(const EventRecorder& events) {
    const auto failed = events.last<Failed>();
    return failed ? failed->error.subject + ": " + failed->error.reason : "no outcome";
  }

  Finished finished(const RequestBody& body) {
    const EventRecorder events = run(body);
    EXPECT_TRUE(events.last<Finished>()) << reason(events);
    return events.last<Finished>().value_or(Finished{});
  }

  // One that the opener has, under a name of its own.
  Item image(int width_px, int height_px) { return medium(MediaKind::kImage, {patterned_picture(width_px, height_px, files_)}); }
  Item video(int frames) {
    std::vector<RgbImage> pictures;
    for (int frame = 0; frame < frames; ++frame) pictures.push_back(patterned_picture(48, 32, files_ + frame));
    return medium(MediaKind::kVideo, std::move(pictures));
  }

  Turn question(std::vector<Item> items, const std::string& text, RecipeSpec recipe) const {
    Turn turn{.conversation = 3};
    items.emplace_back(TextItem{text});
    turn.messages = {{Role::kUser, std::move(items)}};
    turn.recipe = test_support::as_measured(std::move(recipe), info_.layers, info_.kv_heads);
    turn.sampling.max_new_tokens = 4;
    return turn;
  }

  static void follow(Turn& turn, const std::string& answer, std::vector<Item> items) {
    turn.messages.push_back({Role::kAssistant, {TextItem{answer}}});
    turn.messages.push_back({Role::kUser, std::move(items)});
  }

  MemoryMediaOpener opener_;
  ModelInfo info_;

 private:
  Item medium(MediaKind kind, std::vector<RgbImage> pictures) {
    const std::string path = "medium" + std::to_string(++files_);
    opener_.add(path, std::move(pictures));
    return MediaItem{{path, kind, {}}};
  }

  std::string model_folder() {
    const std::string folder = test_support::golden_folder(GetParam());
    if (std::filesystem::exists(folder + "/model")) return folder + "/model";
    for (const char* name : {"config.json", "model.safetensors"}) std::filesystem::copy(folder + "/" + name, scratch_.file(name));
    write_characters();
    return scratch_.path();
  }

  // 94 visible characters, the blank, and the end: the 96 tokens of those models.
  void write_characters() const {
    Json vocabulary = Json::object();
    for (char character = '!'; character <= '~'; ++character) vocabulary[std::string(1, character)] = character - '!';
    vocabulary["\u0120"] = 94;
    vocabulary["</s>"] = 95;
    const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
    const Json end = {{"id", 95},        {"content", "</s>"},   {"single_word", false}, {"lstrip", false},
                      {"rstrip", false}, {"normalized", false}, {"special", true}};
    const Json model = {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array()}};
    const Json tokenizer = {{"version", "1.0"},          {"added_tokens", {end}}, {"normalizer", nullptr}, {"pre_tokenizer", bytes},
                            {"post_processor", nullptr}, {"decoder", bytes},      {"model", model}};
    scratch_.write("tokenizer.json", tokenizer.dump());
    const Json config = {{"eos_token", "</s>"},
                         {"chat_template", "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }} {% endfor %}"}};
    scratch_.write("tokenizer_config.json", config.dump());
    scratch_.write("generation_config.json", R"({"eos_token_id": 95})");
  }

  test::ScratchFolder scratch_;
  int files_ = 0;
  std::unique_ptr<Engine> engine_ = make_engine(&opener_);
};

}  // namespace winnow::testing
