// When a conversation is read from disk and when it is written, with an engine that only takes notes.
#include "app/engine/cache_store/keeping_engine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "tests/support/event_recorder.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;
using winnow::testing::EventRecorder;
using Said = std::vector<std::string>;

struct Notes {
  Said said;
  bool outdated = false;
  bool keepable = true;
  bool fails = false;
  bool locked = false;  // a document of the conversation, whose password is not known
  std::string ends_at;  // the request at which the engine's process ends, once
};

// Writes down what it was asked for, and answers everything well unless told otherwise.
class NotingEngine final : public Engine {
 public:
  explicit NotingEngine(Notes& notes) : notes_(notes) {}
  void handle(const Request& request, EventSink& sink, const InterruptToken& /*interrupt*/) override {
    const auto note = [&](const char* what, ConversationId id) { notes_.said.push_back(what + std::to_string(id)); };
    const auto say = [&](EventBody body) { sink.on_event({request.id, std::move(body)}); };
    const bool ends = (std::holds_alternative<Turn>(request.body) && notes_.ends_at == "turn") ||
                      (std::holds_alternative<SaveConversation>(request.body) && notes_.ends_at == "save") ||
                      (std::holds_alternative<LoadConversation>(request.body) && notes_.ends_at == "load");
    if (ends) {
      notes_.said.push_back("ended at " + std::exchange(notes_.ends_at, {}));
      return say(Failed{{ErrorCode::kEngineCrashed, "", "the engine was ended by signal 9"}});
    }
    if (const auto* load = std::get_if<LoadModel>(&request.body)) {
      ModelInfo info{.folder = load->folder};
      say(ModelLoaded{info});
    } else if (const auto* turn = std::get_if<Turn>(&request.body)) {
      note("turn ", turn->conversation);
      notes_.fails ? say(Failed{{ErrorCode::kDamagedFile, "", "no"}}) : say(Finished{});
    } else if (const auto* compare = std::get_if<Compare>(&request.body)) {
      note("compare ", compare->conversation);
      say(Compared{});
    } else if (const auto* prepare = std::get_if<Prepare>(&request.body)) {
      note("prepare ", prepare->turn.conversation);
      say(Prepared{true, 1.0});
    } else if (const auto* clip = std::get_if<WatchClip>(&request.body)) {
      note("watch ", clip->turn.conversation);
      say(Watched{});
    } else if (const auto* save = std::get_if<SaveConversation>(&request.body)) {
      note("save ", save->conversation);
      if (notes_.keepable) std::ofstream(save->path) << "kept";
      say(Saved{notes_.keepable ? 4 : 0});
    } else if (const auto* recall = std::get_if<LoadConversation>(&request.body)) {
      note("load ", recall->conversation);
      if (notes_.locked) return say(Failed{{ErrorCode::kPasswordNeeded, "a.pdf", "the PDF is encrypted"}});
      notes_.outdated ? say(Failed{{ErrorCode::kCacheOutdated, "film.mp4", "changed"}}) : say(Restored{});
    } else if (const auto* forget = std::get_if<ForgetConversation>(&request.body)) {
      note("forget ", forget->conversation);
    }
  }

 private:
  Notes& notes_;
};

class Keeping : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("winnow-keeping-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "model");
    std::ofstream(folder_ / "model" / "config.json") << "{}";
    std::ofstream(folder_ / "model" / "model.safetensors") << "weights";
    start();
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Another run of the program.
  void start() {
    notes_ = {};
    caches_ = std::make_unique<ConversationCaches>((folder_ / "kept").string());
    engine_ = std::make_unique<KeepingEngine>(std::make_unique<NotingEngine>(notes_), *caches_);
    LoadModel load{.folder = (folder_ / "model").string()};
    run(load);
  }
  EventRecorder run(const RequestBody& body) {
    EventRecorder events;
    engine_->handle({1, body}, events, {});
    return events;
  }
  static Turn turn(ConversationId id) { return {.conversation = id}; }
  bool kept(int id) const { return fs::exists(folder_ / "kept" / (std::to_string(id) + ".safetensors")); }

  fs::path folder_;
  Notes notes_;
  std::unique_ptr<ConversationCaches> caches_;
  std::unique_ptr<KeepingEngine> engine_;
};

TEST_F(Keeping, AnAnswerIsKeptAndRecalledOnceByTheNextRun) {
  const EventRecorder events = run(turn(7));
  EXPECT_TRUE(events.last<Finished>());
  EXPECT_TRUE(events.all<Saved>().empty()) << "nobody asked for that";
  EXPECT_EQ(notes_.said, (Said{"turn 7", "save 7"}));
  start();
  run(turn(7));
  run(turn(7));
  EXPECT_EQ(notes_.said, (Said{"load 7", "turn 7", "save 7", "turn 7", "save 7"}));
}

TEST_F(Keeping, WhatIsPreparedForAChatIsKeptAndForADraftIsNot) {
  run(Prepare{turn(7)});
  run(Prepare{turn(kDraftConversation)});
  EXPECT_EQ(notes_.said, (Said{"prepare 7", "save 7", "prepare 0"}));
}

TEST_F(Keeping, ConversationsOfOtherProgramsAreNotKept) {
  run(turn(kFirstUnkeptConversation));
  run(Prepare{turn(kFirstUnkeptConversation + 1)});
  run(turn(kFirstUnkeptConversation - 1));
  const std::string last = std::to_string(kFirstUnkeptConversation - 1);
  EXPECT_EQ(notes_.said, (Said{"turn " + std::to_string(kFirstUnkeptConversation),
                               "prepare " + std::to_string(kFirstUnkeptConversation + 1), "turn " + last, "save " + last}));
}

WatchClip clipOf(const Turn& turn) { return {.turn = turn}; }

// The engine keeps nothing of a chat in which something is watched (which_cache_test.cpp).
TEST_F(Keeping, AWatchRecallsFirstAndLeavesNoFileOfBefore) {
  run(turn(7));
  start();
  notes_.keepable = false;
  run(clipOf(turn(7)));
  run(turn(7));
  EXPECT_EQ(notes_.said, (Said{"load 7", "watch 7", "turn 7", "save 7"}))
      << "recalled later, the chat of before would take the place of what was watched";
  EXPECT_FALSE(kept(7));
}

TEST_F(Keeping, APlanRecallsToo) {
  run(turn(7));
  start();
  run(Plan{turn(7)});
  EXPECT_EQ(notes_.said, (Said{"load 7"}));
}

Compare comparison(ConversationId id) { return {.conversation = id}; }

// A comparison did not count: the next question recalled the file over its columns, and was read again.
TEST_F(Keeping, AComparisonRecallsFirstAndNothingTakesItsColumnsAway) {
  run(turn(7));
  start();
  run(comparison(7));
  run(turn(7));
  EXPECT_EQ(notes_.said, (Said{"load 7", "compare 7", "turn 7", "save 7"}));
}

// Whatever goes on from a chat recalls it; conversation_of() does not compile without a new kind of request.
TEST_F(Keeping, EveryRequestAboutAChatRecallsIt) {
  const std::vector<RequestBody> bodies = {turn(7),
                                           comparison(7),
                                           Score{turn(7), "an answer"},
                                           Plan{turn(7)},
                                           Prepare{turn(7)},
                                           clipOf(turn(7)),
                                           SaveConversation{7, (folder_ / "file").string(), "a model"}};
  for (const RequestBody& body : bodies) {
    start();
    run(turn(7));
    start();
    run(body);
    ASSERT_FALSE(notes_.said.empty());
    EXPECT_EQ(notes_.said.front(), "load 7") << body.index();
    EXPECT_EQ(conversation_of(body), 7U);
  }
  start();
  run(LoadConversation{7, (folder_ / "another").string(), "a model"});
  run(turn(7));
  EXPECT_EQ(notes_.said, (Said{"load 7", "turn 7", "save 7"})) << "what was loaded is not replaced";
}

TEST_F(Keeping, WhatDoesNotFitIsRemovedAndSaid) {
  run(turn(7));
  start();
  notes_.outdated = true;
  notes_.fails = true;
  const EventRecorder events = run(turn(7));
  ASSERT_EQ(events.all<CacheSetAside>().size(), 1U);
  EXPECT_EQ(events.all<CacheSetAside>().front().why.subject, "film.mp4");
  EXPECT_TRUE(std::holds_alternative<CacheSetAside>(events.events.front().body)) << "before the request's own";
  EXPECT_FALSE(kept(7));
}

// Otherwise the whole paper would be read again for a password that was typed a moment too late.
TEST_F(Keeping, AFileWhoseDocumentNeedsAPasswordStaysAndIsRecalledWithIt) {
  run(turn(7));
  start();
  notes_.locked = true;
  const EventRecorder refused = run(turn(7));
  ASSERT_TRUE(refused.last<Failed>());
  EXPECT_EQ(refused.last<Failed>()->error.code, ErrorCode::kPasswordNeeded);
  EXPECT_EQ(refused.last<Failed>()->error.subject, "a.pdf");
  EXPECT_EQ(notes_.said, (Said{"load 7"})) << "nothing is read anew";
  EXPECT_TRUE(kept(7));
  notes_.locked = false;
  EXPECT_TRUE(run(turn(7)).last<Finished>());
  EXPECT_EQ(notes_.said, (Said{"load 7", "load 7", "turn 7", "save 7"}));
}

TEST_F(Keeping, WhatCannotBeKeptLeavesNoOlderFile) {
  run(turn(7));
  EXPECT_TRUE(kept(7));
  notes_.keepable = false;
  run(turn(7));
  EXPECT_FALSE(kept(7));
}

TEST_F(Keeping, FailureKeepsWhatIsThere) {
  run(turn(7));
  notes_.said.clear();
  notes_.fails = true;
  run(turn(7));
  EXPECT_EQ(notes_.said, (Said{"turn 7"}));
  EXPECT_TRUE(kept(7));
}

TEST_F(Keeping, ForgettingForgetsTheFile) {
  run(turn(7));
  run(ForgetConversation{7});
  EXPECT_FALSE(kept(7));
  EXPECT_EQ(notes_.said.back(), "forget 7");
}

// A chat's text stayed on the disk when it was deleted while keeping was off.
TEST_F(Keeping, SwitchedOffNothingIsWrittenOrReadAndWhatIsForgottenGoes) {
  run(turn(7));
  start();
  caches_->setUse(CacheUse::kForgetOnly);
  run(turn(7));
  EXPECT_EQ(notes_.said, (Said{"turn 7"}));
  EXPECT_TRUE(kept(7));
  run(ForgetConversation{7});
  EXPECT_EQ(notes_.said, (Said{"turn 7", "forget 7"}));
  EXPECT_FALSE(kept(7));
}

TEST_F(Keeping, OfChatsThatAreNotSavedNothingIsWrittenReadOrRemoved) {
  run(turn(7));
  start();
  caches_->setUse(CacheUse::kNone);
  run(turn(7));
  run(ForgetConversation{7});
  EXPECT_EQ(notes_.said, (Said{"turn 7", "forget 7"}));
  EXPECT_TRUE(kept(7)) << "chats that are not saved have the numbers of others";
}

// The engine's process has ended, and with it what it had read of every chat.
TEST_F(Keeping, AnEngineThatWasStartedAnewRecallsEveryChatAgain) {
  for (const char* const at : {"turn", "save"}) {
    start();
    run(turn(7));
    run(turn(8));
    notes_.said.clear();
    notes_.ends_at = at;
    run(turn(8));
    notes_.said.clear();
    run(turn(7));
    EXPECT_EQ(notes_.said, (Said{"load 7", "turn 7", "save 7"})) << at;
  }
}

TEST_F(Keeping, AFileAtWhichTheEngineEndsTwiceIsRemoved) {
  run(turn(7));
  start();
  notes_.ends_at = "load";
  const EventRecorder events = run(turn(7));
  ASSERT_EQ(events.events.size(), 1U);
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kEngineCrashed);
  EXPECT_TRUE(kept(7)) << "once it may be chance";
  notes_.ends_at = "load";
  EXPECT_TRUE(run(turn(7)).last<Failed>());
  EXPECT_FALSE(kept(7));
  notes_.said.clear();
  run(turn(7));
  EXPECT_EQ(notes_.said, (Said{"turn 7", "save 7"}));
}

}  // namespace
}  // namespace winnow::app
