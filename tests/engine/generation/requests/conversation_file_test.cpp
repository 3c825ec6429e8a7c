// Conversations that outlive the engine, on a tiny random model: what is asked afterwards is answered as if nothing had happened between.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "engine/generation/requests/conversation_json.h"
#include "engine/weights/safetensors.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/kv_shape.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"

namespace winnow::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModel = "this model";

class ConversationFile : public TinyModel {
 protected:
  using TinyModel::TinyModel;

  EventRecorder save(std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max()) {
    return run(SaveConversation{7, path_, kModel, most_bytes});
  }
  EventRecorder restore(const std::string& model = kModel) { return run(LoadConversation{7, path_, model}); }
  // Another engine with the same model: nothing is remembered.
  void begin_anew() {
    engine_ = make_engine(&opener_);
    TinyModel::SetUp();
  }
  void expect_threads_go_on(const char* medium = "video");
  std::string bytes() const { return test::file_text(path_); }
  void write(const std::string& bytes) const { test::write_file(path_, bytes); }

  const test::ScratchFolder folder_;
  const std::string path_ = folder_.file("7.safetensors");
};

// Qwen3.5: beside the slots, states.
class ConversationFileWithStates : public ConversationFile {
 protected:
  ConversationFileWithStates() : ConversationFile("qwen3_5/published") {}
};

// LFM2: states without a matrix, of a model that reads no videos.
class ConversationFileWithShortConvs : public ConversationFile {
 protected:
  ConversationFileWithShortConvs() : ConversationFile("lfm2_vl/published") {}
};

// Gemma 4 from 12B on: beside the slots, those of layers with a window.
class ConversationFileWithSlotsBeside : public ConversationFile {
 protected:
  ConversationFileWithSlotsBeside() : ConversationFile("gemma4_large/dense") {}
};

void ConversationFile::expect_threads_go_on(const char* medium) {
  for (const auto& [method, share] : {std::pair{"self-study", 0.3}, std::pair{"every-k", 0.2}, std::pair{"full", 1.0},
                                      std::pair{"snapkv", 0.3}, std::pair{"vl-cache", 0.3}, std::pair{"fastv", 0.5}}) {
    SCOPED_TRACE(method);
    const Turn first = ask(medium, method, share, 12);
    if (recipe_problem(first.recipe, info_.traits)) continue;
    const std::string answer = finished(run(first)).answer;
    const Turn second = follow_up(first, answer, "How many squares are there?");
    const EventRecorder saved = save();
    ASSERT_TRUE(saved.last<Saved>());
    EXPECT_GT(saved.last<Saved>()->kv_bytes, 0);
    const EventRecorder at_once = run(second);

    begin_anew();
    const EventRecorder restored = restore();
    ASSERT_TRUE(restored.last<Restored>()) << restored.last<Failed>()->error.reason;
    EXPECT_EQ(restored.last<Restored>()->kv_bytes, saved.last<Saved>()->kv_bytes);
    EXPECT_EQ(restored.last<Restored>()->thread.size(), 2U);
    const int read = opener_.pictures_read;
    const EventRecorder later = run(second);
    EXPECT_EQ(finished(later).answer, finished(at_once).answer);
    EXPECT_EQ(later.last<CacheReport>()->kept, at_once.last<CacheReport>()->kept);
    EXPECT_EQ(finished(later).figures.kv_bytes.end, finished(at_once).figures.kv_bytes.end);
    EXPECT_EQ(finished(later).figures.tokens.prompt, finished(at_once).figures.tokens.prompt);
    EXPECT_EQ(opener_.pictures_read, read) << "the video was read again";
    begin_anew();
  }
}

TEST_F(ConversationFile, AThreadGoesOnTokenForToken) { expect_threads_go_on(); }
TEST_F(ConversationFileWithStates, AThreadGoesOnTokenForToken) { expect_threads_go_on(); }
TEST_F(ConversationFileWithShortConvs, AThreadGoesOnTokenForToken) { expect_threads_go_on("image"); }
TEST_F(ConversationFileWithSlotsBeside, AThreadGoesOnTokenForToken) { expect_threads_go_on(); }

TEST_F(ConversationFileWithSlotsBeside, CountsThemAndHoldsThem) {
  const Finished done = finished(run(ask("video", "snapkv", 0.3)));
  EXPECT_EQ(done.figures.kv_bytes.states, info_.state_bytes) << "the video is longer than the window";
  EXPECT_EQ(save().last<Saved>()->kv_bytes, done.figures.kv_bytes.end + info_.state_bytes);
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.tensor("current.sliding.layer.3.keys").shape, (std::vector<std::int64_t>{2 * 19, 8}));
  const StoredTensor& slots = file.tensor("current.sliding.layer.3.slots");
  std::string forged = bytes();
  const std::int64_t many = std::int64_t{1} << 40;
  std::memcpy(forged.data() + slots.begin, &many, sizeof many);
  run(ForgetConversation{7});
  write(forged);
  const EventRecorder events = restore();
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.subject, path_ + ": current.sliding.layer.3.slots");
}

TEST_F(ConversationFileWithShortConvs, CountsThemAndHoldsThem) {
  const Finished done = finished(run(ask("image", "snapkv", 0.3)));
  EXPECT_EQ(done.figures.kv_bytes.states, info_.state_bytes);
  EXPECT_EQ(save().last<Saved>()->kv_bytes, done.figures.kv_bytes.end + info_.state_bytes);
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.tensor("current.layer.1.state.0.recent").shape, (std::vector<std::int64_t>{2, 32}));
  EXPECT_EQ(file.tensor("current.layer.1.state.0.memory").shape, (std::vector<std::int64_t>{0, 0, 0}));
  run(ForgetConversation{7});
  EXPECT_TRUE(restore().last<Restored>());
}

TEST_F(ConversationFileWithStates, CountsThemAndHoldsThem) {
  const Finished done = finished(run(ask("image", "snapkv", 0.3)));
  EXPECT_EQ(done.figures.kv_bytes.states, info_.state_bytes);
  EXPECT_EQ(save(done.figures.kv_bytes.end + info_.state_bytes - 1).last<Saved>()->kv_bytes, 0) << "more than allowed";
  EXPECT_EQ(save().last<Saved>()->kv_bytes, done.figures.kv_bytes.end + info_.state_bytes);
  const SafetensorsFile file(path_);
  const StoredTensor& memory = file.tensor("current.layer.0.state.0.memory");
  std::string forged = bytes();
  const float value = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(forged.data() + memory.begin, &value, sizeof value);
  run(ForgetConversation{7});
  write(forged);
  const EventRecorder events = restore();
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.subject, path_ + ": current.layer.0.state.0.memory");
}

// The earlier format has no 4 bits.
TEST_F(ConversationFile, OfAnEarlierFormatIsReadAgain) {
  finished(run(ask("video", "every-k", 0.1, 2)));
  save();
  std::string earlier = bytes();
  const std::string now = R"("format":10)";
  const std::size_t at = earlier.find(now);
  ASSERT_NE(at, std::string::npos);
  earlier.replace(at, now.size(), R"("format": 9)");
  write(earlier);
  const EventRecorder events = restore();
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kCacheOutdated);
  EXPECT_EQ(events.last<Failed>()->error.reason, "what was kept was written by another version of the program");
}

TEST_F(ConversationFile, PreparedMediaAreAskedAboutLater) {
  const Turn turn = ask("video", "self-study", 0.3, 12);
  const EventRecorder alone = run(turn);
  run(ForgetConversation{7});
  const EventRecorder prepared = run(Prepare{turn});
  save();
  begin_anew();
  ASSERT_TRUE(restore().last<Restored>());
  EXPECT_TRUE(restore().last<Restored>()->thread.empty());
  const EventRecorder later = run(turn);
  EXPECT_EQ(finished(later).answer, finished(alone).answer);
  EXPECT_EQ(finished(later).figures.tokens.visual, 0);
  const CacheReport report = later.last<CacheReport>().value();
  ASSERT_EQ(report.description.words.size(), prepared.last<CacheReport>()->description.words.size());
  for (std::size_t i = 0; i < report.description.words.size(); ++i) {
    EXPECT_EQ(report.description.words[i].bytes, prepared.last<CacheReport>()->description.words[i].bytes);
    EXPECT_EQ(report.description.words[i].frame, prepared.last<CacheReport>()->description.words[i].frame);
  }
  for (std::size_t layer = 0; layer < report.layers.size(); ++layer)
    EXPECT_EQ(report.layers[layer].budget, alone.last<CacheReport>()->layers[layer].budget);
  EXPECT_EQ(later.all<MediaSampled>().front().actual_s, alone.all<MediaSampled>().front().actual_s);
}

TEST_F(ConversationFile, WhatAMethodGoesOnRemovingIsNotKept) {
  for (const char* method : {"h2o", "streaming-llm", "ems"}) {
    SCOPED_TRACE(method);
    finished(run(ask("video", method, 0.2)));
    ASSERT_TRUE(save().last<Saved>());
    EXPECT_EQ(save().last<Saved>()->kv_bytes, 0);
    EXPECT_FALSE(fs::exists(path_));
    run(ForgetConversation{7});
  }
  EXPECT_EQ(save().last<Saved>()->kv_bytes, 0) << "a conversation that nobody knows";
}

TEST_F(ConversationFile, MoreThanAllowedIsNotWritten) {
  finished(run(ask("video", "self-study", 0.3)));
  EXPECT_EQ(save(1000).last<Saved>()->kv_bytes, 0);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(ConversationFile, AnotherModelIsNoticed) {
  finished(run(ask("video", "self-study", 0.3)));
  save();
  begin_anew();
  EventRecorder other = restore("another model");
  ASSERT_TRUE(other.last<Failed>());
  EXPECT_EQ(other.last<Failed>()->error.code, ErrorCode::kCacheOutdated);
  EXPECT_TRUE(other.last<Failed>()->error.subject.empty()) << "the file of the user's is not at fault, and ours he does not know";
  const Turn again = ask("video", "self-study", 0.3);
  EXPECT_GT(finished(run(again)).figures.tokens.visual, 0) << "and can be read again";
}

// What was read of a video is in the cache, whole or what is left of it.
TEST_F(ConversationFile, AnswersWithoutItsVideoAndSaysSo) {
  const Turn turn = ask("video", "self-study", 0.3);
  const Finished before = finished(run(turn));
  save();
  begin_anew();
  opener_ = MemoryMediaOpener();
  const EventRecorder restored = restore();
  ASSERT_TRUE(restored.last<Restored>());
  ASSERT_TRUE(restored.last<MediaSampled>());
  EXPECT_EQ(restored.last<MediaSampled>()->path, std::get<MediaItem>(turn.messages.back().items.front()).media.path);
  EXPECT_EQ(restored.last<MediaSampled>()->notices, std::vector<MediaNotice>{{NoticeCode::kFileGone}});
  EXPECT_EQ(finished(run(turn)).answer, before.answer);
}

// Every byte that is not what was written makes the file one that nobody believes.
TEST_F(ConversationFile, DamagedBytesAreRefused) {
  finished(run(ask("video", "every-k", 0.1, 2)));
  save();
  const std::string whole = bytes();
  run(ForgetConversation{7});
  ASSERT_GT(whole.size(), 10'000U);
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write(whole.substr(0, length));
    EXPECT_TRUE(restore().last<Failed>()) << "cut after " << length << " bytes";
  }
  for (std::size_t at = 0; at < whole.size(); at += whole.size() / 61) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write(damaged);
    const EventRecorder events = restore();
    EXPECT_TRUE(events.last<Failed>()) << "byte " << at;
    if (events.last<Failed>()) {
      EXPECT_NE(events.last<Failed>()->error.code, ErrorCode::kInternal) << "byte " << at;
    }
  }
  write(whole);
  EXPECT_TRUE(restore().last<Restored>());
}

TEST_F(ConversationFile, KeysAndValuesThatAreNoNumbersAreToldOfTheFile) {
  finished(run(ask("video", "every-k", 0.1, 2)));
  save();
  const std::string whole = bytes();
  run(ForgetConversation{7});
  const SafetensorsFile file(path_);
  for (const char* name : {"current.layer.0.keys", "current.layer.1.values"}) {
    for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1e38F}) {
      std::string forged = whole;
      std::memcpy(forged.data() + file.tensor(name).begin, &value, sizeof value);
      write(forged);
      const EventRecorder events = restore();
      ASSERT_TRUE(events.last<Failed>());
      const Error error = events.last<Failed>()->error;
      EXPECT_EQ(error.code, ErrorCode::kDamagedFile);
      EXPECT_EQ(error.subject, path_ + ": " + name);
      EXPECT_EQ(error.reason, "a value that is not finite, or too large to compute with");
    }
  }
}

// A file with a hash that fits, made by somebody else.
TEST(ConversationJson, BudgetsOfOtherLayersAreRefused) {
  KvShape shape = test_support::kv_shape(3, 1, 2);
  PreparedContext prepared{Conversation(shape)};
  const auto read = [&](std::vector<std::int64_t> budgets) {
    prepared.outcome.budgets = std::move(budgets);
    const Json json = prepared_json(prepared);
    PreparedContext found{Conversation(shape)};
    read_prepared_json(json, {nullptr, "7.safetensors"}, found);
    return found.outcome.budgets;
  };
  EXPECT_EQ(read({4, 5, 6}), (std::vector<std::int64_t>{4, 5, 6}));
  EXPECT_TRUE(read({}).empty()) << "no event took place";
  for (const std::vector<std::int64_t>& budgets : {std::vector<std::int64_t>{4}, std::vector<std::int64_t>{4, 5, 6, 7}}) {
    try {
      read(budgets);
      ADD_FAILURE() << budgets.size() << " were accepted";
    } catch (const Exception& problem) {
      EXPECT_EQ(problem.error().code, ErrorCode::kDamagedFile);
    }
  }
}

// What version 0.9 wrote (format 7), shortened: no key may be lost, whatever the fields are called in the program.
constexpr const char* kKeptConversation = R"({
  "answer_ids": [12, 0], "answer_open": true, "compressed": true, "day": "2026-11-27", "frame_s": [0.0, 52.5, 0.0], "kv_storage": 1,
  "makers": [{"attached": true, "recipe": {"allocator": "", "budget_tokens": null, "full_layers": 0, "granularity": "", "kv": 0,
    "method": "self-study", "min_event_tokens": 256, "options": {"path": "text"}, "prefill": 1, "reducer": "", "retention": 0.3,
    "scope": "", "scorer": "", "seed": 18446744073709551615, "turn_policy": 1}}],
  "media_count": 3, "media_hashes": ["462b", "ceda+words:ef46", "7e26"], "media_kinds": [1, 2, 3], "next_position": 152,
  "pins": [{"from_s": 0.5, "media": 1, "to_s": 30.0}, {"from_s": 0.0, "media": 0, "to_s": null}], "pruned_tokens": 0, "thinking": 3,
  "thread": [
    {"items": [{"text": "Be brief."}], "role": 1, "thought": ""},
    {"items": [{"encoding": "", "kind": 2, "most_tokens": 0, "path": "2f746d702ff66f", "subtitles": "2f732e737274",
                "plan": {"every_s": 0.0, "frames": 8, "from_s": 0.0, "max_frames": 1024, "to_s": -1.0}}, {"text": "What is this?"}],
     "role": 2, "thought": ""},
    {"items": [{"text": "A circle."}], "role": 3, "thought": "Let me see."}]
})";
constexpr const char* kKeptMedia = R"({
  "description": [{"bytes": "5468e2", "frame": -1, "media": -1}, {"bytes": "20", "frame": 6, "media": 1}], "description_useful": false,
  "first_original": 0, "ids_to_media": [786, 427, -2],
  "media": [{"actual_s": [26.2, 78.7], "all_tokens": 11, "asked_s": [26.25, 78.75], "duration_s": 420.0, "encoding": "", "height_px": 64,
    "kind": 2, "lines": [{"end_s": 1.5, "start_s": 0.5, "text": "A circle."}], "most_tokens": 0,
    "notices": [{"amount": 2, "code": 40, "name": "Windows-1252", "of": 3}], "path": "2f746d70", "subtitles": "2f732e737274",
    "plan": {"every_s": 0.0, "frames": 8, "from_s": 0.0, "max_frames": 1024, "to_s": -1.0}, "tokens": 10, "told_s": [26.2], "width_px": 1512}],
  "outcome": {"budgets": [45, 44], "mass": [{"mass": 0.1, "retention": 0.01}, {"mass": 1.0, "retention": 1.0}], "notes": [4, 5],
    "why": [{"best_scores": [1.5, 2.5], "reasons": [{"name": "entropy", "value": 0.25}]}, {"best_scores": [], "reasons": []}]},
  "recipe": {"allocator": "meda", "budget_tokens": 96, "full_layers": 1, "granularity": "head", "kv": 8, "method": "d2o",
    "min_event_tokens": 256, "options": {"sinks": "2"}, "prefill": 2, "reducer": "average", "retention": 0.3, "scope": "visual",
    "scorer": "h2o", "seed": 7, "turn_policy": 3},
  "tokens": 2
})";

KvShape two_layers() { return test_support::kv_shape(2, 1, 2); }

TEST(ConversationJson, TheKeysOfKeptFilesStay) {
  const Json kept = Json::parse(kKeptConversation);
  Conversation conversation(two_layers());
  read_conversation_json(kept, {nullptr, "7.safetensors"}, conversation);
  EXPECT_EQ(conversation_json(conversation), kept);
  EXPECT_EQ(std::get<MediaItem>(conversation.thread.at(1).items.at(0)).media.path, "/tmp/\xF6o");

  const Json media = Json::parse(kKeptMedia);
  PreparedContext prepared{Conversation(two_layers())};
  prepared.state.origins.resize(2);
  read_prepared_json(media, {nullptr, "7.safetensors"}, prepared);
  EXPECT_EQ(prepared_json(prepared), media);
  EXPECT_EQ(prepared.description.words.at(0).bytes, "Th\xE2");
}

// Pages are younger than the form: they are kept where there are any.
TEST(ConversationJson, PagesOfADocumentAreKept) {
  Json kept = Json::parse(kKeptConversation);
  Json& medium = kept["thread"][1]["items"][0];
  medium["pages"] = {{"first", 3}, {"last", 7}};
  Conversation conversation(two_layers());
  read_conversation_json(kept, {nullptr, "7.safetensors"}, conversation);
  EXPECT_EQ(std::get<MediaItem>(conversation.thread.at(1).items.at(0)).media.pages, (PageRange{3, 7}));
  EXPECT_EQ(conversation_json(conversation), kept);
  medium["pages"]["first"] = -1;
  EXPECT_THROW(read_conversation_json(kept, {nullptr, "7.safetensors"}, conversation), Exception);
}

TEST(ConversationJson, AFieldOfAnotherTypeOrRangeIsRefusedByItsPath) {
  const auto refusal = [](auto change) {
    Json kept = Json::parse(kKeptConversation);
    change(kept);
    Conversation conversation(two_layers());
    try {
      read_conversation_json(kept, {nullptr, "7.safetensors"}, conversation);
    } catch (const Exception& problem) {
      EXPECT_EQ(problem.error().code, ErrorCode::kDamagedFile);
      return problem.error().subject;
    }
    return std::string();
  };
  EXPECT_EQ(refusal([](Json&) {}), "");
  EXPECT_EQ(refusal([](Json& kept) { kept["next_position"] = -1; }), "7.safetensors: next_position");
  EXPECT_EQ(refusal([](Json& kept) { kept["next_position"] = nullptr; }), "7.safetensors: next_position");
  EXPECT_EQ(refusal([](Json& kept) { kept.erase("next_position"); }), "7.safetensors: next_position");
  EXPECT_EQ(refusal([](Json& kept) { kept["thread"][0].erase("thought"); }), "7.safetensors: thread.thought");
  EXPECT_EQ(refusal([](Json& kept) { kept["pins"][0].erase("to_s"); }), "7.safetensors: pins.to_s");
  EXPECT_EQ(refusal([](Json& kept) { kept["media_kinds"] = {1, 2, 9}; }), "7.safetensors: media_kinds");
  EXPECT_EQ(refusal([](Json& kept) { kept["media_kinds"] = {1, 2}; }), "7.safetensors: media_kinds");
  EXPECT_EQ(refusal([](Json& kept) { kept["thread"][0]["items"] = "text"; }), "7.safetensors: thread.items");
  EXPECT_EQ(refusal([](Json& kept) { kept["thread"][1]["items"][0]["path"] = "2f7"; }), "7.safetensors: thread.items.path");
  EXPECT_EQ(refusal([](Json& kept) { kept["thread"][1]["items"][0]["plan"]["frames"] = -8; }), "7.safetensors: thread.items.plan.frames");
  EXPECT_EQ(refusal([](Json& kept) { kept["makers"][0]["recipe"]["retention"] = 2.0; }), "7.safetensors: makers.recipe.retention");
  EXPECT_EQ(refusal([](Json& kept) { kept["makers"][0]["recipe"]["prefill"] = 3; }), "7.safetensors: makers.recipe.prefill");
}

}  // namespace
}  // namespace winnow::testing
