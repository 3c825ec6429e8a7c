// What is asked of the engine for one of many videos, with an engine that answers from a list.
#include "app/engine/video_shelf/video_steps.h"

#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <fstream>
#include <utility>

namespace winnow::app {
namespace {

class VideoStepsTest : public ::testing::Test {
 protected:
  static UnreadVideo video(const char* path = "/films/a.mp4") {
    UnreadVideo video{{}, "content", 60.0, "model"};
    video.turn.conversation = 7;
    video.turn.messages = {{Role::kUser, {MediaItem{{path, MediaKind::kVideo, {}}}}}};
    return video;
  }
  static Finished said(const char* words) {
    Finished finished;
    finished.answer = words;
    return finished;
  }
  // To its end: what was asked for, a word each. answers: of its questions, one after the other.
  std::vector<std::string> run(VideoSteps& steps, std::vector<std::string> answers = {}) {
    std::vector<std::string> asked;
    while (const std::optional<RequestBody> request = steps.next()) {
      if (const auto* prepare = std::get_if<Prepare>(&*request)) {
        asked.push_back("prepare");
        m_prepared = prepare->turn;
        steps.take(Prepared{m_compresses, 1.0});
      } else if (const auto* save = std::get_if<SaveConversation>(&*request)) {
        asked.push_back("save");
        std::ofstream(save->path) << "kept";
        steps.take(Saved{4});
      } else if (std::holds_alternative<LoadConversation>(*request)) {
        asked.push_back("load");
        Restored restored;
        restored.prepared = m_prepared.messages;
        restored.prompt.day = "2026-01-02";
        m_outdated ? steps.take(Failed{{ErrorCode::kCacheOutdated, "", ""}}) : steps.take(restored);
      } else if (const auto* turn = std::get_if<Turn>(&*request)) {
        asked.push_back(std::get<TextItem>(turn->messages.back().items.back()).text);
        m_day = turn->prompt.day;
        if (answers.empty()) {
          Finished stopped = said("");
          stopped.reason = StopReason::kInterrupted;
          steps.take(stopped);
          continue;
        }
        steps.take(said(answers.front().c_str()));
        answers.erase(answers.begin());
      }
    }
    return asked;
  }
  using Asked = std::vector<std::string>;
  const PutQuestion m_star = putToEach("Which shows a star?");
  QTemporaryDir m_folder;
  ConversationCaches m_caches{m_folder.filePath(QStringLiteral("videos")).toStdString()};
  Turn m_prepared;
  std::string m_day;
  bool m_compresses = true;
  bool m_outdated = false;
};

TEST_F(VideoStepsTest, ASecondQuestionReadsNothingAgain) {
  VideoSteps first(m_caches, video(), m_star);
  EXPECT_EQ(run(first, {"Yes.", "At 12 seconds."}), (Asked{"prepare", "save", "Is there a star?", "When does the star appear?"}));
  EXPECT_FALSE(first.wasKept());
  EXPECT_EQ(first.answer().text, "Yes.");
  EXPECT_EQ(first.answer().timesS, std::vector<double>{12});
  VideoSteps second(m_caches, video("/films/the same under another name.mp4"), PutQuestion{"Who laughs?", {}});
  EXPECT_EQ(run(second, {"Nobody, until 0:15."}), (Asked{"load", "Who laughs?"}));
  EXPECT_TRUE(second.wasKept());
  EXPECT_EQ(second.answer().verdict, Verdict::kUnclear);
  EXPECT_EQ(second.answer().timesS, std::vector<double>{15});
  EXPECT_EQ(m_day, "2026-01-02") << "as it was read";
  // After a restart of the program.
  ConversationCaches again(m_folder.filePath(QStringLiteral("videos")).toStdString());
  VideoSteps third(again, video(), m_star);
  EXPECT_EQ(run(third, {"No."}), (Asked{"load", "Is there a star?"})) << "and a No asks for no time";
}

TEST_F(VideoStepsTest, PreparedAloneItIsKeptOnce) {
  VideoSteps first(m_caches, video(), {});
  EXPECT_EQ(run(first), (Asked{"prepare", "save"}));
  EXPECT_TRUE(m_caches.has(keptNumber(video())));
  VideoSteps second(m_caches, video(), {});
  EXPECT_EQ(run(second), Asked{});
  EXPECT_TRUE(second.wasKept());
}

TEST_F(VideoStepsTest, WhatDoesNotFitAnyMoreIsReadAgain) {
  VideoSteps first(m_caches, video(), {});
  run(first);
  m_outdated = true;
  VideoSteps second(m_caches, video(), m_star);
  EXPECT_EQ(run(second, {"No."}), (Asked{"load", "prepare", "save", "Is there a star?"}));
  EXPECT_FALSE(second.wasKept());
  EXPECT_FALSE(second.error());
}

TEST_F(VideoStepsTest, NothingIsKeptWhereNothingMayBeOrCanBe) {
  m_caches.setUse(CacheUse::kNone);
  VideoSteps unkept(m_caches, video(), m_star);
  EXPECT_EQ(run(unkept, {"No."}), (Asked{"prepare", "Is there a star?"}));
  m_caches.setUse(CacheUse::kKeep);
  m_compresses = false;
  VideoSteps aware(m_caches, video(), m_star);
  EXPECT_EQ(run(aware, {"No."}), (Asked{"prepare", "Is there a star?"}));
}

TEST_F(VideoStepsTest, AnInterruptionAndAFaultEndIt) {
  VideoSteps stopped(m_caches, video(), m_star);
  EXPECT_EQ(run(stopped), (Asked{"prepare", "save", "Is there a star?"}));
  EXPECT_TRUE(stopped.interrupted());
  VideoSteps failed(m_caches, video(), PutQuestion{"?", {}});
  ASSERT_TRUE(failed.next());
  failed.take(Restored{});
  ASSERT_TRUE(failed.next());
  failed.take(Failed{{ErrorCode::kOutOfMemory, "", ""}});
  EXPECT_FALSE(failed.next());
  ASSERT_TRUE(failed.error());
  EXPECT_EQ(failed.error()->code, ErrorCode::kOutOfMemory);
}

TEST_F(VideoStepsTest, TheNumberIsOfContentModelAndHowItIsRead) {
  const ConversationId number = keptNumber(video());
  EXPECT_EQ(keptNumber(video("/elsewhere/b.mp4")), number);
  UnreadVideo other = video();
  other.content = "another";
  EXPECT_NE(keptNumber(other), number);
  other = video();
  other.model = "another";
  EXPECT_NE(keptNumber(other), number);
  other = video();
  other.turn.recipe.retention = 0.5;
  EXPECT_NE(keptNumber(other), number);
  other = video();
  std::get<MediaItem>(other.turn.messages[0].items[0]).media.subtitles = "/heard.vtt";
  EXPECT_NE(keptNumber(other), number);
  other = video();
  std::get<MediaItem>(other.turn.messages[0].items[0]).media.plan.frame_count = 8;
  EXPECT_NE(keptNumber(other), number);
}

}  // namespace
}  // namespace winnow::app
