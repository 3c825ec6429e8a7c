// What a question waits for: preparation, another chat's answer; and from when its first word is counted.
#include <QPushButton>

#include "tests/ui/support/window_fixture.h"
#include "ui/composer/preparation_line.h"
#include "ui/models/cache_monitor.h"
#include "ui/models/wait_progress.h"
#include "ui/shell/chat/export_chat.h"
#include "ui/shell/turns/elsewhere_notice.h"

namespace winnow::test {
namespace {

class WaitingTest : public WindowTest {
 protected:
  void SetUp() override {
    m_script = [this](const Request& request) {
      if (std::holds_alternative<Turn>(request.body) && m_slow)
        return answer_script(request, "It is written word by word, and slowly.", std::chrono::milliseconds(150));
      Script script = default_script(request);
      const auto* turn = std::get_if<Turn>(&request.body);
      const auto* clip = turn != nullptr ? std::get_if<MediaItem>(&turn->messages.back().items.front()) : nullptr;
      if (clip != nullptr && m_encodes) {
        if (clip->media.plan.taken == 0) return Script{{{}, Say{Progress{Phase::kEncodeFrames, 12, 64, true}}}, {{}, Stall{}}};
        return changed<MediaSampled>(script, [](MediaSampled& sampled) {
          sampled.asked_s.resize(12);
          sampled.actual_s.resize(12);
          sampled.planned_frames = 64;
        });
      }
      if (!std::holds_alternative<Turn>(request.body) || !m_stalls) return script;
      const auto said = std::find_if(script.begin(), script.end(),
                                     [](const Step& step) { return std::holds_alternative<TextDelta>(std::get<Say>(step.action).body); });
      script.erase(said + 1, script.end());
      script.push_back({{}, Stall{}});
      return script;
    };
    WindowTest::SetUp();
  }
  // In a chat that is left: its answer is being written.
  void writeElsewhere() {
    m_stalls = true;
    ASSERT_TRUE(sends(QStringLiteral("Tell a story")));
    ASSERT_TRUE(waitUntil([this] { return session().answers.writingHere() && !last().text.isEmpty(); }));
    m_elsewhere = session().chat.id();
    m_stalls = false;
    m_window->page().startNew();
    ASSERT_TRUE(waitUntil([this] { return session().chat.id() == 0; }));
  }
  // An answer that waits for its video's frames, 12 of which are there.
  enum class Attach : int { kVideo = 1, kNothingMore = 2 };
  void waitForFrames(Attach what = Attach::kVideo) {
    m_encodes = true;
    if (what == Attach::kVideo) composer()->addFile("/clips/a.mp4");
    ASSERT_TRUE(attached());
    ASSERT_TRUE(sends(QStringLiteral("What is it?")));
    ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && last().framesThere == 12; }));
  }
  void click(ui::Action action) {
    m_window->grab();
    const QRect button = transcript()->actionRect(last().id, action);
    ASSERT_FALSE(button.isEmpty());
    QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, button.center());
  }
  FramePlan askedPlan() {
    return std::get<MediaItem>(std::get<Turn>(m_log->requests().back().body).messages.back().items.front()).media.plan;
  }
  ui::ElsewhereNotice* notice() { return inWindow<ui::ElsewhereNotice>(); }

  std::atomic<bool> m_stalls{false};
  std::atomic<bool> m_encodes{false};  // an encoder that stays with its first frames
  std::atomic<bool> m_slow{false};     // the answer ends by itself, a second later
  ConversationId m_elsewhere = 0;
};

TEST_F(WaitingTest, AnAnswerElsewhereIsToldWithTheWayThereAndStop) {
  EXPECT_TRUE(notice()->isHidden());
  writeElsewhere();
  ASSERT_FALSE(notice()->isHidden());
  EXPECT_TRUE(waitUntil([this] { return notice()->text().contains(QStringLiteral("Tell a story")); })) << notice()->text().toStdString();
  m_store->renameConversation(m_elsewhere, QStringLiteral("Stories"));
  EXPECT_TRUE(waitUntil([this] { return notice()->text().contains(QStringLiteral("“Stories”")); })) << notice()->text().toStdString();
  notice()->button(QStringLiteral("Show it"))->click();
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() == m_elsewhere; }));
  EXPECT_TRUE(notice()->isHidden());
  m_window->page().startNew();
  ASSERT_TRUE(waitUntil([this] { return !notice()->isHidden(); }));
  notice()->button(QStringLiteral("Stop it"))->click();
  EXPECT_TRUE(idle());
  EXPECT_TRUE(notice()->isHidden());
}

TEST_F(WaitingTest, TheFramesThatAreThereCanBeAnsweredFrom) {
  m_settings->setUnasked({app::Unasked::kNever, app::Unasked::kNever});
  waitForFrames();
  click(ui::Action::kAnswerNow);
  ASSERT_TRUE(waitUntil([this] { return !session().answers.busy() && !last().text.isEmpty(); }));
  EXPECT_EQ(askedPlan().taken, 12);
  EXPECT_EQ(transcript()->messageCount(), 2);
  EXPECT_EQ(last().branchCount, 1) << "it is the answer that was waited for";
  EXPECT_EQ(last().fromPart, QStringLiteral("Written from 12 of 64 frames of the video."));
  EXPECT_TRUE(transcript()->messageAt(0).attachments.front().detail.startsWith(QStringLiteral("12 of 64 frames")))
      << transcript()->messageAt(0).attachments.front().detail.toStdString();
  close();
  open({});
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  EXPECT_FALSE(last().fromPart.isEmpty());
  EXPECT_TRUE(ui::chatAsMarkdown(session().chat.loaded(), list_methods()).contains("12 of 64 frames"));
  // All of them, in a further wording of the question.
  m_encodes = false;
  ASSERT_TRUE(waitUntil([this] { return session().answers.canSend(); }));
  click(ui::Action::kReadAll);
  ASSERT_TRUE(waitUntil([this] { return !session().answers.busy() && last().fromPart.isEmpty() && !last().text.isEmpty(); }));
  EXPECT_EQ(askedPlan().taken, 0);
  EXPECT_EQ(transcript()->messageAt(0).branchCount, 2);
}

TEST_F(WaitingTest, AQuestionBehindAPreparationCanDoWithItsFrames) {
  m_settings->setUnasked({app::Unasked::kAlways, app::Unasked::kNever});
  m_log->holdPreparations(true);
  m_log->setEncodedFrames(12);
  composer()->addFile("/clips/a.mp4");
  ASSERT_TRUE(waitUntil([this] { return m_log->prepares().size() == 1; }));
  waitForFrames(Attach::kNothingMore);
  click(ui::Action::kAnswerNow);
  ASSERT_TRUE(waitUntil([this] { return !session().answers.busy() && !last().text.isEmpty(); })) << "what is prepared is not waited for";
  EXPECT_EQ(askedPlan().taken, 12);
  EXPECT_FALSE(last().fromPart.isEmpty());
}

TEST_F(WaitingTest, AQuestionThatIsSentMeanwhileIsNext) {
  writeElsewhere();
  type(QStringLiteral("And mine?"));
  EXPECT_TRUE(composer()->sendButton()->isEnabled());
  pressEnter();
  EXPECT_TRUE(notice()->queued());
  EXPECT_TRUE(notice()->text().contains(QStringLiteral("Your question is next"))) << notice()->text().toStdString();
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("And mine?"));
  session().answers.stop();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && !session().answers.busy(); }));
  EXPECT_EQ(transcript()->messageAt(0).text, QStringLiteral("And mine?"));
  EXPECT_TRUE(composer()->prompt()->toPlainText().isEmpty());
  // Counted from Enter: the engine is told when that was.
  const auto turn = std::get<Turn>(m_log->requests().back().body);
  EXPECT_GT(turn.asked, ui::AnswerRun::Time{});
}

TEST_F(WaitingTest, AQuestionThatIsNextCanBeKeptBack) {
  writeElsewhere();
  type(QStringLiteral("And mine?"));
  pressEnter();
  ASSERT_TRUE(notice()->queued());
  notice()->button(QStringLiteral("Do not send"))->click();
  EXPECT_FALSE(notice()->queued());
  session().answers.stop();
  ASSERT_TRUE(idle());
  QTest::qWait(50);
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("And mine?"));
  EXPECT_EQ(transcript()->messageCount(), 0);
}

// Looked at meanwhile: it was a draft again, without a word.
TEST_F(WaitingTest, AQuestionThatIsNextGoesOffWhicheverChatIsLookedAt) {
  writeElsewhere();
  type(QStringLiteral("And mine?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() != 0; }));
  const ConversationId mine = session().chat.id();
  notice()->button(QStringLiteral("Show it"))->click();
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() == m_elsewhere; }));
  EXPECT_TRUE(waitUntil([this] { return notice()->text() == QStringLiteral("Your question in “And mine?” is next."); }))
      << notice()->text().toStdString();
  const auto asked = std::chrono::steady_clock::now();
  session().answers.stop();
  ASSERT_TRUE(waitUntil([&] {
    const auto* turn = std::get_if<Turn>(&m_log->requests().back().body);
    return turn != nullptr && turn->conversation == mine;
  }));
  ASSERT_TRUE(idle());
  EXPECT_LT(std::get<Turn>(m_log->requests().back().body).asked, asked) << "counted from Enter";
  EXPECT_EQ(session().chat.id(), m_elsewhere) << "the reader is left where he is";
  EXPECT_TRUE(m_settings->atStart().queued.isEmpty());
  session().chat.open(mine);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == mine; }));
  ASSERT_EQ(transcript()->messageCount(), 2);
  EXPECT_EQ(transcript()->messageAt(0).text, QStringLiteral("And mine?"));
  EXPECT_FALSE(last().text.isEmpty());
  EXPECT_TRUE(composer()->prompt()->toPlainText().isEmpty()) << "it is no draft any more";
}

TEST_F(WaitingTest, QuestionsOfSeveralChatsGoOffInTheirOrder) {
  writeElsewhere();
  std::vector<ConversationId> chats;
  for (const char* question : {"First?", "Second?"}) {
    type(QString::fromLatin1(question));
    pressEnter();
    ASSERT_TRUE(waitUntil([&] { return session().chat.id() != 0 && notice()->queued(); }));
    chats.push_back(session().chat.id());
    EXPECT_TRUE(notice()->text().endsWith(chats.size() == 1 ? QStringLiteral("Your question is next.")
                                                            : QStringLiteral("Before yours: 1 question.")))
        << notice()->text().toStdString();
    m_window->page().startNew();
    ASSERT_TRUE(waitUntil([this] { return session().chat.id() == 0; }));
  }
  EXPECT_EQ(m_settings->atStart().queued, QList<ConversationId>(chats.begin(), chats.end()));
  session().answers.stop();
  const auto asked = [this] {
    std::vector<ConversationId> turns;
    for (const Request& request : m_log->requests()) {
      if (const auto* turn = std::get_if<Turn>(&request.body)) turns.push_back(turn->conversation);
    }
    return turns;
  };
  ASSERT_TRUE(waitUntil([&] { return asked().size() == 3 && !session().answers.busy(); }));
  EXPECT_EQ(asked(), (std::vector<ConversationId>{m_elsewhere, chats[0], chats[1]}));
}

TEST_F(WaitingTest, AQuestionThatWaitedAtTheEndOfTheProgramIsADraftAndSaidSo) {
  writeElsewhere();
  type(QStringLiteral("And mine?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() != 0; }));
  const ConversationId mine = session().chat.id();
  session().chat.open(m_elsewhere);
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() == m_elsewhere; }));
  reopen();
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() == m_elsewhere; }));
  EXPECT_EQ(notice()->text(), QStringLiteral("Winnow was closed before your question in “And mine?” was sent. It is in that chat’s box."));
  notice()->button(QStringLiteral("Show it"))->click();
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == mine; }));
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("And mine?"));
  EXPECT_EQ(notice()->text(), QStringLiteral("Winnow was closed before this question was sent. It is in the box."));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && !session().answers.busy(); }));
  EXPECT_TRUE(notice()->isHidden());
  EXPECT_TRUE(m_settings->atStart().queued.isEmpty());
}

TEST_F(WaitingTest, WhatStoodInTheWayIsToldAsLongAsItDoes) {
  m_slow = true;
  ASSERT_TRUE(sends(QStringLiteral("Tell a story")));
  ASSERT_TRUE(waitUntil([this] { return session().answers.writingHere() && !last().text.isEmpty(); }));
  type(QStringLiteral("And then?"));
  pressEnter();
  EXPECT_EQ(composer()->notice(), QStringLiteral("An answer is being written. Stop it first, or wait."));
  session().answers.stop();
  ASSERT_TRUE(idle());
  EXPECT_EQ(composer()->notice(), QString()) << "it stayed";
}

// Left and come back to: the panel said "Nothing in the cache yet".
TEST_F(WaitingTest, AChatThatWritesShowsItsLiveFiguresAgain) {
  writeElsewhere();
  EXPECT_FALSE(session().answers.monitor().figures().active) << "a new chat has no figures";
  EXPECT_FALSE(session().answers.monitor().figures().hasReport);
  session().chat.open(m_elsewhere);
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() == m_elsewhere; }));
  const ui::CacheFigures& live = session().answers.monitor().figures();
  EXPECT_TRUE(live.active);
  EXPECT_TRUE(live.hasReport);
  EXPECT_FALSE(live.makers.isEmpty());
  EXPECT_FALSE(session().answers.monitor().turns().empty());
}

// It ended while another chat was on screen: no method, empty bars.
TEST_F(WaitingTest, AChatWhoseAnswerEndedElsewhereShowsItsFigures) {
  m_slow = true;
  writeElsewhere();
  ASSERT_TRUE(idle());
  EXPECT_FALSE(session().answers.monitor().figures().hasReport);
  session().chat.open(m_elsewhere);
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() == m_elsewhere; }));
  EXPECT_EQ(last().status, ui::MessageStatus::kComplete);
  EXPECT_TRUE(session().answers.monitor().figures().hasReport);
  EXPECT_FALSE(session().answers.monitor().figures().makers.isEmpty());
}

TEST_F(WaitingTest, AQuestionThatWaitsForPreparationIsCountedFromEnter) {
  m_settings->setUnasked({app::Unasked::kAlways, app::Unasked::kNever});
  m_log->holdPreparations(true);
  ASSERT_TRUE(attaches("/clips/a.mp4"));
  auto* line = inWindow<ui::PreparationLine>();
  ASSERT_TRUE(waitUntil([&] { return line->view().text.startsWith(QStringLiteral("Preparing")); }));
  type(QStringLiteral("What is it?"));
  const auto before = std::chrono::steady_clock::now();
  pressEnter();
  const auto after = std::chrono::steady_clock::now();
  ASSERT_TRUE(waitUntil([&] { return line->view().text.startsWith(QStringLiteral("Your question is next")); }));
  ASSERT_TRUE(waitUntil([this] { return session().answers.monitor().figures().waitsFor.startsWith(QStringLiteral("Preparing")); }));
  EXPECT_TRUE(last().phase.startsWith(QStringLiteral("Preparing"))) << "not: Starting";
  QTest::qWait(100);
  m_log->holdPreparations(false);
  ASSERT_TRUE(waitUntil([this] { return !session().answers.busy() && last().metrics.valid; }));
  const auto turn = std::get<Turn>(m_log->requests().back().body);
  EXPECT_GE(turn.asked, before);
  EXPECT_LE(turn.asked, after);
  ASSERT_FALSE(session().answers.monitor().turns().empty());
  EXPECT_GE(session().answers.monitor().turns().back().points.front().ms, 100.0) << "the timeline counts from there, too";
}

TEST(WaitProgress, RisesOverAllPhasesAndForeseesTheRest) {
  ui::WaitProgress progress;
  const auto begun = ui::WaitProgress::Clock::now();
  progress.begin({.pictures = true, .reading = true}, begun);
  EXPECT_FALSE(progress.leftMs(begun + std::chrono::seconds(5)).has_value());
  double before = 0.0;
  const auto take = [&](Phase phase, std::uint64_t done, std::uint64_t total) {
    progress.take({phase, done, total});
    EXPECT_GE(progress.share(), before) << "it never falls";
    before = progress.share();
  };
  for (std::uint64_t frame = 0; frame <= 64; frame += 8) {
    take(Phase::kDecodeMedia, frame, 64);
    take(Phase::kEncodeFrames, frame, 64);
  }
  for (const Phase phase : {Phase::kPrefill, Phase::kProbe, Phase::kPrefill, Phase::kCompress}) {
    for (std::uint64_t done = 0; done <= 4; ++done) take(phase, done, 4);
  }
  EXPECT_DOUBLE_EQ(progress.share(), 1.0);
  progress.begin({.pictures = true, .reading = true}, begun);
  progress.take({Phase::kEncodeFrames, 32, 64});
  EXPECT_NEAR(progress.leftMs(begun + std::chrono::seconds(4)).value_or(0.0), 12'000.0, 1.0);
}

TEST(WaitProgress, BeginsAnewWithTheEngine) {
  ui::WaitProgress progress;
  const auto begun = ui::WaitProgress::Clock::now();
  progress.begin({.pictures = true, .reading = true}, begun);
  progress.take({Phase::kPrefill, 2, 4});
  EXPECT_GT(progress.share(), 0.5);
  progress.take({Phase::kLoadWeights, 0, 0}, begun + std::chrono::seconds(10));
  EXPECT_TRUE(progress.startsAgain());
  EXPECT_EQ(progress.share(), 0.0);
  progress.take({Phase::kEncodeFrames, 32, 64});
  EXPECT_FALSE(progress.startsAgain());
  EXPECT_NEAR(progress.leftMs(begun + std::chrono::seconds(14)).value_or(0.0), 12'000.0, 1.0) << "of the second way alone";
}

TEST(WaitProgress, WhatIsLeftOutIsNoPartOfTheWay) {
  ui::WaitProgress text;
  text.begin({.pictures = false, .reading = true});
  text.take({Phase::kPrefill, 0, 4});
  EXPECT_DOUBLE_EQ(text.share(), 0.0);
  ui::WaitProgress pictures;
  pictures.begin({.pictures = true, .reading = false});
  pictures.take({Phase::kEncodeFrames, 64, 64});
  EXPECT_DOUBLE_EQ(pictures.share(), 1.0);
}

}  // namespace
}  // namespace winnow::test
