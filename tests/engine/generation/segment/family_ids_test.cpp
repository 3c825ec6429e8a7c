// Prompts of two turns with images under tokenizers drawn at random, through each family's processor, against transformers
// (tests/golden/family_ids; rebuild: tests/golden/make/make_family_ids_golden.py).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/generation/segment/turn_segment.h"
#include "tests/support/event_recorder.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/golden_cases.h"
#include "tests/support/golden_path.h"
#include "tests/support/memory_media.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;

json json_file(const std::string& path) {
  std::ifstream stream(path);
  return json::parse(stream);
}

// [5, [7, 3]] is 5 7 7 7.
Ids written_out(const json& runs) {
  Ids ids;
  for (const json& run : runs) {
    if (run.is_array()) {
      ids.insert(ids.end(), run[1].get<std::size_t>(), run[0].get<std::int64_t>());
    } else {
      ids.push_back(run);
    }
  }
  return ids;
}

class FamilyIds : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string name = GetParam();
    name.replace(name.find('/'), 1, "-");
    lines_.open(source_folder() + "/tests/golden/family_ids/" + name + ".jsonl");
    head_ = next_line();
    const std::filesystem::path golden = test_support::golden_folder(GetParam());
    sees_ = std::filesystem::exists(golden / "model");
    const std::filesystem::path files = sees_ ? golden / "model" : golden;
    if (sees_) base_ = json_file(files / "tokenizer.json");
    for (const auto& file : std::filesystem::directory_iterator(files)) {
      if (file.path().filename() != "golden.safetensors") std::filesystem::copy(file.path(), folder_.file(file.path().filename().string()));
    }
  }

  // Null at the end.
  json next_line() {
    std::string line;
    return std::getline(lines_, line) ? json::parse(line) : json();
  }

  void load(const json& entry) {
    json tokenizer = {{"version", "1.0"}, {"post_processor", nullptr}};
    const std::string kind = entry.at("kind");
    const json& shared = head_.at("vocabularies");
    tokenizer["model"] = shared.contains(kind) ? shared.at(kind) : base_.at("model");
    for (json token : head_.at("added_tokens")) {
      if (kind == "own" && token.at("id") < 3) continue;
      const std::string content = token.at("content");
      if (entry.at("flags").contains(content)) {
        for (const std::string flag : entry.at("flags").at(content)) token[flag] = true;
      }
      tokenizer["added_tokens"].push_back(token);
    }
    const bool bytes = kind == "own" || kind == "bytes";
    tokenizer["decoder"] =
        bytes ? json{{"type", "ByteLevel"}} : json{{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "never"}};
    if (entry.at("post_processor").get<bool>()) tokenizer["post_processor"] = base_.at("post_processor");
    for (const char* part : {"normalizer", "pre_tokenizer"}) tokenizer[part] = entry.at(part);
    const std::string text = tokenizer.dump();
    folder_.write("tokenizer.json", text);
    if (!sees_) {
      const json& source = head_.at("templates").at(entry.at("template").get<std::size_t>());
      folder_.write("tokenizer_config.json", json{{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"chat_template", source}}.dump());
    }
    LoadModel request{.folder = folder_.path(), .format = WeightFormat::kFp32};
    model_ = load_folder(request, {}, InterruptToken());
  }

  Message question(const json& entry, std::size_t turn) {
    Message message{Role::kUser, {}};
    int seed = 0;
    for (const json& size : entry.at("images").at(turn)) {
      const std::string path = "turn " + std::to_string(turn) + " image " + std::to_string(++seed);
      opener_.add(path, {test_support::golden_picture(size[0], size[1], seed)});
      message.items.emplace_back(MediaItem{{path, MediaKind::kImage, {}}});
    }
    message.items.emplace_back(TextItem{entry.at("thread").at(2 * turn)});
    return message;
  }

  // What is read of the thread that `working` does not hold yet.
  Ids read(const std::vector<Message>& thread, Conversation& working) {
    Turn turn{.messages = thread, .sampling = {.max_new_tokens = 1}};
    const auto before = std::ssize(working.token_ids);
    prepare_segment({*model_, &opener_, emit_, InterruptToken()}, turn, nullptr, working);
    return {working.token_ids.begin() + before, working.token_ids.end()};
  }

  json head_;
  bool sees_ = false;
  std::unique_ptr<LoadedModel> model_;

 private:
  std::ifstream lines_;
  json base_;
  test::ScratchFolder folder_;
  MemoryMediaOpener opener_;
  EventRecorder recorder_;
  EmitEvent emit_{recorder_, 1};
  const c10::InferenceMode inference_;
};

TEST_P(FamilyIds, AreThoseOfTransformersOverTwoTurns) {
  int compared = 0;
  int continued = 0;
  for (json entry = next_line(); !entry.is_null(); entry = next_line()) {
    load(entry);
    ++compared;
    const std::string which = entry.dump(-1, ' ', true);
    const auto nothing = [&] { return Conversation(model_->network->text().kv_shape()); };
    std::vector<Message> thread = {question(entry, 0)};
    Conversation working = nothing();
    EXPECT_EQ(read(thread, working), written_out(entry.at("first"))) << which;
    thread.push_back({Role::kAssistant, {TextItem{entry.at("thread").at(1)}}});
    working.thread = thread;
    thread.push_back(question(entry, 1));
    Conversation anew = nothing();
    const Ids whole = written_out(entry.at("whole"));
    EXPECT_EQ(read(thread, anew), whole) << which;
    if (entry.at("rest").is_null()) continue;
    ++continued;
    const Ids rest(whole.end() - entry.at("rest").get<std::ptrdiff_t>(), whole.end());
    EXPECT_EQ(read(thread, working), rest) << "behind an answer, " << which;
  }
  EXPECT_GE(compared, 12);
  EXPECT_GE(continued, 8);
}

INSTANTIATE_TEST_SUITE_P(Folders, FamilyIds,
                         ::testing::Values("llava/llava_llama", "llava/next_mistral", "llava/next_video", "llava_onevision/gqa_tied",
                                           "qwen2_vl/published", "qwen2_5_vl/published", "qwen3_vl/published", "smolvlm/smolvlm2_split",
                                           "smolvlm/idefics3_plain", "internvl/qwen2_saved", "internvl/llama_published", "gemma3/published",
                                           "text_models/llama_tied", "text_models/mistral", "text_models/qwen2", "text_models/gemma3"),
                         folder_info_name);

}  // namespace
}  // namespace winnow::testing
