// A source that is still running is watched in a chat: clips and questions take turns, and the bar says how it stands.
#include <QAction>
#include <QLabel>
#include <QPushButton>

#include "app/words/attached_words.h"
#include "app/words/error_text.h"
#include "app/words/fault_texts.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_card.h"
#include "ui/composer/attachment_tray.h"
#include "ui/composer/description_dialog.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/method_control.h"
#include "ui/composer/plan_line.h"
#include "ui/composer/preparation_line.h"
#include "ui/shell/turns/kept_map_pages.h"
#include "ui/shell/turns/watch_controller.h"
#include "ui/watch/watch_bar.h"
#include "ui/watch/watch_dialog.h"
#include "ui/watch/watch_strip.h"

namespace winnow::test {
namespace {

using Stage = ui::WatchView::Stage;

class WatchTest : public WindowTest {
 protected:
  ui::WatchController& watch() { return *inWindow<ui::WatchController>(); }
  ui::WatchBar* bar() { return m_window->findChild<ui::WatchBar*>(); }
  QString text() { return bar()->view().text; }
  QString notice() { return bar()->view().notice; }

  void start(std::int64_t cap = 2000) { watch().start({app::WatchRequest::Kind::kCamera, "/dev/video0", 0.5, cap}); }
  bool seen(int frames) {
    return waitUntil([this, frames] { return watch().watched().frames == frames; });
  }
  bool startsAndReadsAClip() {
    m_clips.giveFrames(8);
    start();
    return seen(8);
  }
  // The engine reads the first of them until holdWatches(false).
  bool asksBehindTwoClips() {
    m_log->holdWatches(true);
    m_clips.giveFrames(8);
    m_clips.giveFrames(8);
    const bool reads = waitUntil([this] { return order() == "cc"; });
    type(QStringLiteral("What was there?"));
    pressEnter();
    return reads;
  }
  bool stage(Stage stage) {
    return waitUntil([this, stage] { return bar()->view().stage == stage; });
  }
  // Clips and turns, in the order in which the engine had them.
  std::vector<Request> asked() const {
    std::vector<Request> requests = m_log->requests();
    std::erase_if(requests, [](const Request& request) {
      return !std::holds_alternative<WatchClip>(request.body) && !std::holds_alternative<Turn>(request.body);
    });
    return requests;
  }
  std::string order() const {
    std::string letters;
    for (const Request& request : asked()) letters += std::holds_alternative<WatchClip>(request.body) ? 'c' : 'q';
    return letters;
  }
  const WatchClip clip(std::size_t number) const { return std::get<WatchClip>(asked().at(number).body); }
  void useMethod(const RecipeSpec& spec) {
    m_settings->setDefaultRecipe({"mine", spec});
    m_window->page().startNew();
  }
  // What a watch under this cap is read by in a chat that uses `spec`.
  RecipeSpec takenFor(const RecipeSpec& spec, std::int64_t cap) {
    useMethod(spec);
    m_clips.giveFrames(8);
    start(cap);
    EXPECT_TRUE(seen(8));
    return clip(0).turn.recipe;
  }
};

const MediaItem& mediumOf(const Turn& turn) { return std::get<MediaItem>(turn.messages.back().items.front()); }

TEST_F(WatchTest, ClipsGoOneAtATimeAndTheFirstBegins) {
  m_log->holdWatches(true);
  for (int i = 0; i < 3; ++i) m_clips.giveFrames(8);
  EXPECT_FALSE(bar()->isVisible());
  start();
  ASSERT_TRUE(waitUntil([this] { return order() == "c" && m_clips.asked() == 2; }));
  QTest::qWait(60);
  EXPECT_EQ(m_engine->unfinished(), 1) << "the second waits until the first was read";
  m_log->holdWatches(false);
  ASSERT_TRUE(seen(24));
  EXPECT_EQ(order(), "ccc");
  EXPECT_TRUE(clip(0).begins);
  EXPECT_FALSE(clip(1).begins);
  EXPECT_FALSE(clip(2).begins);
  EXPECT_EQ(clip(1).frames.front().asked_s, 4.0);
  const Turn turn = clip(0).turn;
  EXPECT_NE(turn.conversation, kDraftConversation) << "the chat has got a number, so that it can be found again";
  EXPECT_EQ(turn.conversation, session().chat.id());
  EXPECT_EQ(turn.guard, Guard::kAlone);
  EXPECT_EQ(turn.recipe.method, "self-study-stream");
  EXPECT_EQ(turn.recipe.budget_tokens, 2000);
  ASSERT_EQ(turn.messages.size(), 1U);
  ASSERT_EQ(turn.messages.back().items.size(), 1U);
  const MediaRequest& media = mediumOf(turn).media;
  EXPECT_EQ(media.path, "/dev/video0");
  EXPECT_EQ(media.kind, MediaKind::kVideo);
  EXPECT_EQ(media.plan.frame_count, 0);
  EXPECT_EQ(media.plan.every_s, 0.5);
}

TEST_F(WatchTest, AStreamMethodOfTheChatIsTakenWithItsOptions) {
  RecipeSpec spec{.method = "infinipot-v", .options = {{"recent", "4"}}};
  const RecipeSpec taken = takenFor(spec, 640);
  EXPECT_EQ(taken.method, "infinipot-v");
  EXPECT_EQ(taken.options, spec.options);
  EXPECT_EQ(taken.budget_tokens, 640);
}

TEST_F(WatchTest, AMethodThatReadsInClipsWhenToldToIsTakenToo) {
  RecipeSpec spec{.method = "keydiff", .options = {{"event", "clips"}}};
  const RecipeSpec taken = takenFor(spec, 640);
  EXPECT_EQ(taken.method, "keydiff");
  EXPECT_EQ(taken.options, spec.options);
}

TEST_F(WatchTest, AQuestionGoesBetweenTwoClipsAndIsAboutAllOfIt) {
  ASSERT_TRUE(startsAndReadsAClip());
  ASSERT_TRUE(asksBehindTwoClips());
  QTest::qWait(60);
  EXPECT_EQ(order(), "cc") << "the question waits for the clip that is being read, and for the one behind it";
  m_log->holdWatches(false);
  ASSERT_TRUE(seen(24));
  ASSERT_TRUE(waitUntil([this] { return order() == "cccq"; }));
  ASSERT_TRUE(idle());
  const Turn turn = std::get<Turn>(asked()[3].body);
  EXPECT_EQ(turn.guard, Guard::kAlone);
  EXPECT_EQ(turn.conversation, clip(0).turn.conversation);
  EXPECT_EQ(turn.recipe, clip(0).turn.recipe);
  EXPECT_EQ(turn.pins, clip(0).turn.pins);
  ASSERT_EQ(turn.messages.size(), 1U);
  ASSERT_EQ(turn.messages.back().items.size(), 2U);
  EXPECT_EQ(mediumOf(turn).media.path, mediumOf(clip(0).turn).media.path);
  EXPECT_EQ(mediumOf(turn).media.plan, mediumOf(clip(0).turn).media.plan);
  EXPECT_EQ(std::get<TextItem>(turn.messages.back().items[1]).text, "What was there?");
}

// Killed while its question waits, a chat must not have it a second time in the box.
TEST_F(WatchTest, AQuestionThatWaitsIsNotSavedAsADraft) {
  ASSERT_TRUE(startsAndReadsAClip());
  ASSERT_TRUE(asksBehindTwoClips());
  QTest::qWait(600);  // longer than the pause after which a draft is saved
  std::optional<app::LoadedConversation> saved;
  QObject::connect(m_store.get(), &app::ChatStore::conversationLoaded, m_window.get(),
                   [&](app::RequestToken, const app::LoadedConversation& loaded) { saved = loaded; });
  m_store->loadConversation(session().chat.id());
  ASSERT_TRUE(waitUntil([&] { return saved.has_value(); }));
  EXPECT_FALSE(saved->messages.isEmpty());
  EXPECT_TRUE(saved->draft.text.isEmpty()) << saved->draft.text.toStdString();
  m_log->holdWatches(false);
  EXPECT_TRUE(idle());
}

TEST_F(WatchTest, AQuestionIsAlsoAboutFramesThatAreNoWholeClipYet) {
  ASSERT_TRUE(startsAndReadsAClip());
  ASSERT_TRUE(waitUntil([this] { return m_clips.asked() == 2; }));
  m_clips.beginClip(3);
  QTest::qWait(60);
  EXPECT_EQ(order(), "c");
  type(QStringLiteral("What was there?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return order() == "ccq"; }));
  EXPECT_EQ(clip(1).frames.size(), 3U);
  ASSERT_TRUE(idle());
  m_clips.giveFrames(8);
  ASSERT_TRUE(seen(19));
}

TEST_F(WatchTest, AQuestionDoesNotWaitForASourceThatIsStopped) {
  ASSERT_TRUE(startsAndReadsAClip());
  m_log->holdWatches(true);
  m_clips.giveFrames(8);
  ASSERT_TRUE(waitUntil([this] { return order() == "cc"; }));
  m_clips.giveFrames(8);
  type(QStringLiteral("What was there?"));
  pressEnter();
  QTest::qWait(60);
  EXPECT_EQ(order(), "cc");
  watch().stop();
  m_log->holdWatches(false);
  ASSERT_TRUE(waitUntil([this] { return order() == "ccq"; })) << "what waited is gone with the source";
  ASSERT_TRUE(idle());
}

TEST_F(WatchTest, EveryQuestionIsAskedAsIfItWereTheFirst) {
  ASSERT_TRUE(startsAndReadsAClip());
  ask(QStringLiteral("First?"));
  ask(QStringLiteral("Second?"));
  session().answers.regenerate(last().id);
  ASSERT_TRUE(waitUntil([this] { return order() == "cqqq"; }) && idle());
  for (const std::size_t number : {2, 3}) {
    const Turn turn = std::get<Turn>(asked()[number].body);
    ASSERT_EQ(turn.messages.size(), 1U);
    EXPECT_EQ(std::get<TextItem>(turn.messages.back().items.back()).text, "Second?");
    EXPECT_EQ(turn.guard, Guard::kAlone);
    EXPECT_EQ(turn.recipe, clip(0).turn.recipe);
  }
}

TEST_F(WatchTest, AQuestionIsStoredWithItsSourceAndShownAgain) {
  ASSERT_TRUE(startsAndReadsAClip());
  ask(QStringLiteral("What was there?"));
  const ConversationId chat = session().chat.id();
  const auto shows = [&] {
    ASSERT_EQ(transcript()->messageCount(), 2);
    const ui::MessageContent question = transcript()->messageAt(0);
    ASSERT_EQ(question.attachments.size(), 1U);
    EXPECT_EQ(question.attachments[0].title, QStringLiteral("The camera /dev/video0"));
    EXPECT_TRUE(question.attachments[0].detail.contains(QStringLiteral("Watched"))) << question.attachments[0].detail.toStdString();
  };
  shows();
  EXPECT_EQ(last().metrics.method.contains(QStringLiteral("Self-study, clip by clip")), true) << last().metrics.method.toStdString();
  reopen();
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == chat && transcript()->messageCount() == 2; }));
  shows();
  EXPECT_FALSE(bar()->isVisible());
  const auto* line = inWindow<ui::PreparationLine>();
  EXPECT_TRUE(line->idleText().startsWith(QStringLiteral("What was seen is gone."))) << line->idleText().toStdString();
  EXPECT_EQ(line->button()->text(), QStringLiteral("Later questions…")) << "it cannot be read again";
  // Reworded later: what was watched is not there any more.
  const std::optional<app::Draft> draft = session().answers.beginEdit(0);
  ASSERT_TRUE(draft && draft->attachments.size() == 1);
  EXPECT_TRUE(app::wasWatched(draft->attachments[0]));
  composer()->editQuestion(*draft);
  ASSERT_EQ(composer()->tray()->count(), 1);
  EXPECT_EQ(composer()->tray()->card(0)->state(), ui::CardState::kRefused);
  bool said = false;
  for (const QLabel* label : composer()->tray()->card(0)->findChildren<QLabel*>())
    said = said || label->text().contains(QStringLiteral("cannot be read again"));
  EXPECT_TRUE(said);
}

// Every later question failed, for the engine was to open the camera as a file.
TEST_F(WatchTest, AChatGoesOnByWhatWasSaidWhenItsSourceIsGone) {
  ASSERT_TRUE(startsAndReadsAClip());
  ask(QStringLiteral("What was there?"));
  const std::string said = last().text.toStdString();
  ASSERT_TRUE(reopened(2));
  ask(QStringLiteral("And now?"));
  EXPECT_EQ(last().status, ui::MessageStatus::kComplete);
  Turn turn = std::get<Turn>(asked().back().body);
  EXPECT_EQ(turn.guard, Guard::kKeep);
  ASSERT_EQ(turn.messages.size(), 3U) << "the whole thread, as in any chat";
  ASSERT_EQ(turn.messages[0].items.size(), 1U) << "without what was watched";
  EXPECT_EQ(std::get<TextItem>(turn.messages[0].items[0]).text, "What was there?");
  EXPECT_EQ(std::get<TextItem>(turn.messages[1].items[0]).text, said);
  const auto* line = inWindow<ui::PreparationLine>();
  EXPECT_TRUE(line->idleText().startsWith(QStringLiteral("What was seen is gone. Your next question uses what was said")))
      << line->idleText().toStdString();
  EXPECT_EQ(transcript()->messageAt(0).attachments.size(), 1U) << "it was asked about, and stays to be seen";
  // A picture is asked about in the same chat, and what the engine numbers is what is named.
  ASSERT_TRUE(attaches("/clips/a.png"));
  composer()->tray()->card(0)->pins()->toggle(app::PinnedRange{0.0, 0.0});
  ask(QStringLiteral("And on this?"));
  turn = std::get<Turn>(asked().back().body);
  ASSERT_EQ(turn.messages.back().items.size(), 2U);
  EXPECT_EQ(std::get<MediaItem>(turn.messages.back().items[0]).media.path, "/clips/a.png");
  ASSERT_EQ(turn.pins.size(), 1U);
  EXPECT_EQ(turn.pins[0].media, 0) << "the first that the engine is told of";
  const std::vector<ui::MapMedia> media = ui::mediaOfThread(session().chat, last().id);
  ASSERT_EQ(media.size(), 1U);
  EXPECT_EQ(media[0].path, QByteArray("/clips/a.png"));
  EXPECT_EQ(ui::mediaOfThread(session().chat, transcript()->messageAt(1).id).at(0).path, QByteArray("/dev/video0"));
  EXPECT_FALSE(line->idleText().contains(QStringLiteral("gone"))) << line->idleText().toStdString();
}

TEST_F(WatchTest, ATextModelAnswersInAChatWhoseSourceIsGone) {
  ASSERT_TRUE(startsAndReadsAClip());
  ask(QStringLiteral("What was there?"));
  close();
  m_script = [](const Request& request) {
    return changed<ModelLoaded>(default_script(request), [](ModelLoaded& loaded) { loaded.info.traits.sees = false; });
  };
  open();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  ask(QStringLiteral("And now?"));
  EXPECT_EQ(last().status, ui::MessageStatus::kComplete);
}

// Of the question that is about it nothing can take its place.
TEST_F(WatchTest, AskedAgainAboutWhatIsGoneTheEnginesErrorIsSaidInWords) {
  ASSERT_TRUE(startsAndReadsAClip());
  ask(QStringLiteral("What was there?"));
  close();
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    return failure_script(ErrorCode::kFileNotFound, "/dev/video0", "does not exist");
  };
  open();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  const qint64 before = last().id;
  session().answers.regenerate(before);
  ASSERT_TRUE(waitUntil([&] { return last().id != before && !session().answers.busy(); }));
  EXPECT_EQ(last().status, ui::MessageStatus::kFailed);
  EXPECT_FALSE(transcript()->actionRect(last().id, ui::Action::kRetry).isEmpty());
  EXPECT_TRUE(transcript()->actionRect(last().id, ui::Action::kFindFile).isEmpty()) << "it is nowhere to be found";
  for (const char* address : {"/dev/video0", "tcp://127.0.0.1:9000", "screen::0.0"}) {
    const app::ErrorText words = app::describeError({ErrorCode::kFileNotFound, address, "does not exist"});
    EXPECT_TRUE(words.cause.contains(app::watchedName(QString::fromLatin1(address)))) << words.cause.toStdString();
    EXPECT_TRUE(words.remedy.startsWith(QStringLiteral("A watched source cannot be read again"))) << words.remedy.toStdString();
  }
  EXPECT_FALSE(app::describeError({ErrorCode::kFileNotFound, "/home/a/film.mp4", ""}).remedy.contains(QStringLiteral("watched")));
  const Turn turn = std::get<Turn>(asked().back().body);
  EXPECT_EQ(std::get<MediaItem>(turn.messages.back().items[0]).media.path, "/dev/video0");
}

TEST_F(WatchTest, NothingIsAskedBeforeSomethingWasSeen) {
  start();
  EXPECT_TRUE(session().answers.blockedReason().contains(QStringLiteral("Nothing has arrived")))
      << session().answers.blockedReason().toStdString();
  type(QStringLiteral("What is there?"));
  EXPECT_FALSE(composer()->sendButton()->isEnabled());
  m_clips.giveFrames(8);
  EXPECT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  EXPECT_TRUE(session().answers.blockedReason().isEmpty());
}

TEST_F(WatchTest, OtherMediaAreNotMixedIn) {
  ASSERT_TRUE(startsAndReadsAClip());
  ASSERT_TRUE(attaches("/clips/short.mp4"));
  type(QStringLiteral("What is there?"));
  pressEnter();
  EXPECT_TRUE(composer()->notice().contains(QStringLiteral("only"))) << composer()->notice().toStdString();
  QTest::qWait(1600);
  EXPECT_TRUE(m_log->prepares().empty()) << "would take the place of what was seen";
  EXPECT_EQ(order(), "c");
}

TEST_F(WatchTest, SourcesAreNamedInWords) {
  EXPECT_EQ(app::watchedName(QStringLiteral("screen:")), QStringLiteral("the screen"));
  EXPECT_EQ(app::watchedName(QStringLiteral("screen::1.0")), QStringLiteral("the screen :1.0"));
  EXPECT_EQ(app::watchedName(QStringLiteral("/dev/video2")), QStringLiteral("the camera /dev/video2"));
  EXPECT_EQ(app::watchedName(QStringLiteral("tcp://127.0.0.1:9000")), QStringLiteral("tcp://127.0.0.1:9000"));
}

// What is chosen for the chat is not what reads the source.
TEST_F(WatchTest, TheMethodButtonSaysWhatReadsTheSource) {
  const QString chosen = composer()->method()->text();
  ASSERT_TRUE(startsAndReadsAClip());
  EXPECT_TRUE(composer()->method()->text().startsWith(QStringLiteral("Watching: "))) << composer()->method()->text().toStdString();
  EXPECT_NE(composer()->method()->text(), QStringLiteral("Watching: ") + chosen);
  EXPECT_TRUE(composer()->method()->about().contains(QStringLiteral("This setting is for other questions")));
  bar()->stopButton()->click();
  bar()->closeButton()->click();
  EXPECT_EQ(composer()->method()->text(), chosen);
}

TEST_F(WatchTest, TheBarSaysHowItStands) {
  start(100);
  EXPECT_TRUE(bar()->isVisible());
  EXPECT_TRUE(text().contains(QStringLiteral("/dev/video0")));
  for (int i = 0; i < 5; ++i) m_clips.giveFrames(8);
  ASSERT_TRUE(seen(40));
  // 40 frames of 9 tokens under a cap of 100: 100/360.
  const QString expected = QStringLiteral("Watching the camera /dev/video0 for 0:20: 40 frames, 28\u202f% kept (200 KiB)");
  EXPECT_EQ(text(), expected) << text().toStdString();
  EXPECT_EQ(bar()->view().shares.size(), 40U);
  EXPECT_TRUE(bar()->strip()->isVisible());
  EXPECT_EQ(bar()->view().shares.front(), 0.0);
  EXPECT_GT(bar()->view().shares.back(), 0.9);
  app::ClipReader::Clip missed{.notices = {{NoticeCode::kFramesMissed, 3}}};
  m_clips.give(missed);
  EXPECT_TRUE(waitUntil([this] { return notice() == QStringLiteral("3 frames were skipped because they came too fast."); }))
      << notice().toStdString();
  bar()->pauseButton()->click();
  EXPECT_EQ(bar()->view().stage, Stage::kPaused);
  EXPECT_EQ(bar()->pauseButton()->text(), QStringLiteral("Resume"));
  EXPECT_TRUE(text().startsWith(QStringLiteral("Paused")));
  bar()->pauseButton()->click();
  EXPECT_EQ(bar()->view().stage, Stage::kRunning);
}

TEST_F(WatchTest, StoppedItStaysUntilItIsLetGo) {
  ASSERT_TRUE(startsAndReadsAClip());
  bar()->stopButton()->click();
  EXPECT_EQ(bar()->view().stage, Stage::kEnded);
  EXPECT_EQ(text(), QStringLiteral("Stopped after 0:04. You can still ask about it."));
  EXPECT_FALSE(bar()->stopButton()->isVisible());
  EXPECT_TRUE(waitUntil([this] { return m_clips.closed() == 1; })) << "the source is free again";
  ask(QStringLiteral("What was there?"));
  EXPECT_EQ(std::get<Turn>(asked().back().body).guard, Guard::kAlone);
  EXPECT_TRUE(inWindow<ui::PreparationLine>()->idleText().isEmpty()) << "a next question sees what the bar shows";
  bar()->closeButton()->click();
  EXPECT_FALSE(inWindow<ui::PreparationLine>()->idleText().isEmpty());
  EXPECT_FALSE(bar()->isVisible());
  ask(QStringLiteral("Anything else?"));
  const Turn later = std::get<Turn>(asked().back().body);
  EXPECT_EQ(later.guard, Guard::kKeep);
  EXPECT_EQ(later.messages.back().items.size(), 1U) << "the text alone";
  EXPECT_EQ(order(), "cqq");
}

TEST_F(WatchTest, WhatIsSeenIsShownAndWhatEndedCanBeWatchedAgain) {
  app::ClipReader::Clip clip;
  clip.frames.push_back({0.0, 0.0, RgbImage{4, 2, std::vector<std::uint8_t>(24, 200)}});
  m_clips.give(clip);
  start(640);
  ASSERT_TRUE(seen(1));
  EXPECT_FALSE(bar()->view().picture.isNull());
  EXPECT_EQ(bar()->view().picture.pixelColor(0, 0), QColor(200, 200, 200));
  EXPECT_FALSE(bar()->view().again);
  bar()->stopButton()->click();
  EXPECT_TRUE(bar()->view().again);
  m_clips.giveFrames(8);
  bar()->againButton()->click();
  ASSERT_TRUE(seen(8));
  EXPECT_EQ(m_clips.requests().back().address, "/dev/video0");
  EXPECT_EQ(m_clips.requests().back().capSlots, 640);
}

TEST_F(WatchTest, TheEndOfTheSourceComesAfterItsLastFrames) {
  m_log->holdWatches(true);
  m_clips.giveFrames(8);
  m_clips.giveFrames(2);
  m_clips.end("the source has ended");
  start();
  ASSERT_TRUE(waitUntil([this] { return order() == "c"; }));
  m_log->holdWatches(false);
  ASSERT_TRUE(stage(Stage::kEnded));
  EXPECT_EQ(watch().watched().frames, 10);
  EXPECT_EQ(notice(), QStringLiteral("The source has ended."));
  EXPECT_EQ(text(), QStringLiteral("Stopped after 0:05. You can still ask about it."));
}

TEST_F(WatchTest, AFailureOfTheEngineStopsItAndIsSaidInWords) {
  ASSERT_TRUE(startsAndReadsAClip());
  m_log->failWatches(Error{ErrorCode::kContextFull, "", "positions"});
  m_clips.giveFrames(8);
  ASSERT_TRUE(stage(Stage::kEnded));
  EXPECT_EQ(notice(), QStringLiteral("The source’s cache limit is longer than the model can read. Keep less of it, then watch it again."));
  EXPECT_TRUE(text().contains(QStringLiteral("after 0:04"))) << "what was seen before is still there";
  EXPECT_TRUE(waitUntil([this] { return m_clips.closed() == 1; }));
  ask(QStringLiteral("What was there?"));
  EXPECT_EQ(std::get<Turn>(asked().back().body).guard, Guard::kAlone);
}

TEST_F(WatchTest, TheEndOfTheEngineIsTheEndOfWhatWasSeen) {
  ASSERT_TRUE(startsAndReadsAClip());
  m_log->failWatches(Error{ErrorCode::kEngineCrashed, "", "signal 9"});
  m_clips.giveFrames(8);
  ASSERT_TRUE(stage(Stage::kEnded));
  EXPECT_EQ(text(), QStringLiteral("Stopped. What was seen of %1 is gone.").arg(app::watchedName(QStringLiteral("/dev/video0"))));
  EXPECT_EQ(notice(), QStringLiteral("The engine stopped unexpectedly. Watch it again."));
  EXPECT_TRUE(waitUntil([this] { return m_clips.closed() == 1; }));
  m_log->failWatches(std::nullopt);
  m_clips.giveFrames(8);
  bar()->againButton()->click();
  EXPECT_TRUE(seen(8));
}

TEST_F(WatchTest, AQuestionAtWhichTheEngineEndsIsTheEndOfWhatWasSeen) {
  close();
  m_script = [](const Request& request) {
    return std::holds_alternative<Turn>(request.body) ? failure_script(ErrorCode::kEngineCrashed, "", "signal 9") : default_script(request);
  };
  open();
  ASSERT_TRUE(startsAndReadsAClip());
  ask(QStringLiteral("What was there?"));
  ASSERT_TRUE(stage(Stage::kEnded));
  EXPECT_EQ(text(), QStringLiteral("Stopped. What was seen of %1 is gone.").arg(app::watchedName(QStringLiteral("/dev/video0"))));
}

TEST_F(WatchTest, AModelThatCannotWatchSaysSoAndTheChatIsAsBefore) {
  m_log->failWatches(Error{ErrorCode::kUnsupportedModel, "", "no probe"});
  m_clips.giveFrames(8);
  start();
  ASSERT_TRUE(stage(Stage::kEnded));
  EXPECT_TRUE(notice().contains(QStringLiteral("The loaded model cannot watch a source."))) << notice().toStdString();
  EXPECT_TRUE(text().contains(QStringLiteral("before anything was seen")));
  EXPECT_TRUE(session().answers.blockedReason().isEmpty());
  m_log->failWatches(std::nullopt);
  m_clips.giveFrames(8);
  start();
  EXPECT_TRUE(seen(8)) << "it can be begun again without closing the bar";
}

TEST_F(WatchTest, ASourceThatIsNotThereSaysSo) {
  m_clips.fail({ErrorCode::kFileNotFound, "/dev/video0", "no such device"});
  start();
  ASSERT_TRUE(stage(Stage::kEnded));
  EXPECT_TRUE(notice().startsWith(QStringLiteral("“the camera /dev/video0” cannot be found."))) << notice().toStdString();
  EXPECT_TRUE(order().empty());
}

TEST_F(WatchTest, AnotherChatLeavesItRunningForItsOwn) {
  ASSERT_TRUE(startsAndReadsAClip());
  ask(QStringLiteral("What was there?"));
  const ConversationId chat = session().chat.id();
  m_window->page().startNew();
  ASSERT_NE(session().chat.id(), chat);
  EXPECT_FALSE(bar()->isVisible());
  m_clips.giveFrames(8);
  ASSERT_TRUE(seen(16));
  EXPECT_EQ(clip(2).turn.conversation, chat);
  ask(QStringLiteral("Hello?"));
  EXPECT_EQ(std::get<Turn>(asked().back().body).guard, Guard::kKeep);
  EXPECT_TRUE(watch().blockedReason().contains(QStringLiteral("What was there?"))) << watch().blockedReason().toStdString();
  m_window->page().openChat(chat);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == chat; }));
  EXPECT_TRUE(bar()->isVisible());
  EXPECT_TRUE(text().contains(QStringLiteral("16 frames")));
}

TEST_F(WatchTest, WhatHasEndedInOneChatLeavesAnotherItsOwn) {
  ASSERT_TRUE(startsAndReadsAClip());
  ask(QStringLiteral("What was there?"));
  m_clips.end("the source has ended");
  ASSERT_TRUE(stage(Stage::kEnded));
  m_window->page().startNew();
  EXPECT_TRUE(watch().blockedReason().isEmpty()) << watch().blockedReason().toStdString();
  start();
  EXPECT_TRUE(stage(Stage::kRunning));
  EXPECT_TRUE(bar()->isVisible());
}

TEST_F(WatchTest, ADeletedChatEndsIt) {
  ASSERT_TRUE(startsAndReadsAClip());
  ask(QStringLiteral("What was there?"));
  session().list.remove(session().chat.id());
  EXPECT_TRUE(waitUntil([this] { return m_clips.closed() == 1 && !bar()->isVisible(); }));
}

// The model of before stays where another one does not load: so does what it has seen.
TEST_F(WatchTest, AModelThatDoesNotLoadEndsNothing) {
  m_script = [](const Request& request) {
    const auto* load = std::get_if<LoadModel>(&request.body);
    if (load != nullptr && load->folder == "/models/none") return failure_script(ErrorCode::kNoModel, load->folder, "there is none");
    return default_script(request);
  };
  ASSERT_TRUE(startsAndReadsAClip());
  session().model.load(QStringLiteral("/models/none"));
  ASSERT_TRUE(waitUntil([this] { return session().model.error().has_value() && session().model.state() == ui::ModelState::kReady; }));
  EXPECT_EQ(bar()->view().stage, Stage::kRunning);
  EXPECT_TRUE(session().subject.watchesHere());
  m_clips.giveFrames(8);
  EXPECT_TRUE(seen(16)) << "it goes on";
  EXPECT_FALSE(clip(asked().size() - 1).begins);
}

TEST_F(WatchTest, AnotherModelEndsItAndSaysWhatIsGone) {
  m_log->holdWatches(true);
  m_clips.giveFrames(8);
  start();
  ASSERT_TRUE(waitUntil([this] { return order() == "c"; }));
  session().model.load(QStringLiteral("/models/other"));
  m_log->holdWatches(false);
  ASSERT_TRUE(stage(Stage::kEnded));
  EXPECT_TRUE(text().contains(QStringLiteral("is gone"))) << text().toStdString();
  EXPECT_TRUE(bar()->view().shares.empty());
  EXPECT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady; }));
  EXPECT_FALSE(session().subject.watchesHere());
}

TEST_F(WatchTest, ClosingTheWindowEndsItWhileTheSourceIsSilent) {
  start();
  ASSERT_TRUE(waitUntil([this] { return m_clips.asked() == 1; }));
  m_window->close();
  EXPECT_TRUE(waitUntil([this] { return m_clips.closed() == 1; }));
}

TEST_F(WatchTest, TheMenuOpensTheDialogOrExplainsItself) {
  QAction* action = nullptr;
  for (QAction* each : m_window->actions()) {
    if (each->text() == QStringLiteral("&Watch…")) action = each;
  }
  ASSERT_NE(action, nullptr);
  action->trigger();
  auto* dialog = m_window->findChild<ui::WatchDialog*>();
  ASSERT_NE(dialog, nullptr);
  m_clips.giveFrames(8);
  dialog->watchButton()->click();
  ASSERT_TRUE(seen(8));
  action->trigger();
  EXPECT_TRUE(composer()->notice().contains(QStringLiteral("Stop it first"))) << composer()->notice().toStdString();
  EXPECT_EQ(m_clips.requests().size(), 1U);
}

TEST_F(WatchTest, TheDialogCountsBytesAsTheRecipeStoresThem) {
  QAction* action = nullptr;
  for (QAction* each : m_window->actions()) {
    if (each->text() == QStringLiteral("&Watch…")) action = each;
  }
  ASSERT_NE(action, nullptr);
  const auto cost = [&] {
    action->trigger();
    auto* dialog = m_window->findChild<ui::WatchDialog*>();
    const QString said = dialog->cost();
    delete dialog;
    return said;
  };
  RecipeSpec spec{.method = "infinipot-v"};
  useMethod(spec);
  EXPECT_TRUE(cost().startsWith(QStringLiteral("About 3.9 MiB of memory."))) << cost().toStdString();  // 2000 tokens of 2048 bytes
  spec.kv_bits = 8;
  useMethod(spec);
  EXPECT_TRUE(cost().startsWith(QStringLiteral("About 1.1 MiB of memory."))) << cost().toStdString();  // 4 layers x 2 heads x 2 x (32 + 4)
  spec.method = "snapkv";  // a method of its own watches instead, which stores as the model computes
  useMethod(spec);
  EXPECT_TRUE(cost().startsWith(QStringLiteral("About 3.9 MiB of memory."))) << cost().toStdString();
}

TEST_F(WatchTest, TheDescriptionOfWhatIsLeftCanBeRead) {
  m_log->describeWatches({{{"A", 0, 0}, {" star", 0, 0}, {".", 0, 0}}, true});
  ASSERT_TRUE(startsAndReadsAClip());
  ASSERT_TRUE(bar()->descriptionButton()->isVisible());
  bar()->descriptionButton()->click();
  auto* dialog = m_window->findChild<ui::DescriptionDialog*>();
  ASSERT_NE(dialog, nullptr);
  bool said = false;
  for (const QLabel* label : dialog->findChildren<QLabel*>()) said = said || label->text() == QStringLiteral("A star.");
  EXPECT_TRUE(said);
  EXPECT_TRUE(dialog->buttons().isEmpty()) << "its frames are not there any more";
}

TEST_F(WatchTest, NothingIsCutOffInASmallWindow) {
  for (int i = 0; i < 5; ++i) m_clips.giveFrames(8);
  start(100);
  ASSERT_TRUE(seen(40));
  m_window->resize(480, 400);
  QTest::qWait(60);
  EXPECT_EQ(m_window->size(), QSize(480, 400));
  for (const QLabel* label : bar()->findChildren<QLabel*>()) {
    if (!label->isVisible()) continue;
    EXPECT_GE(label->height(), label->heightForWidth(label->width())) << label->text().toStdString();
  }
  EXPECT_TRUE(composer()->prompt()->isVisible());
  EXPECT_GE(composer()->prompt()->height(), composer()->prompt()->fontMetrics().height());
}

TEST_F(WatchTest, ControlsHaveNamesAndAreReachedByKey) {
  start();
  for (const QAbstractButton* button : bar()->findChildren<QAbstractButton*>()) {
    EXPECT_FALSE(button->accessibleName().isEmpty() && button->text().isEmpty());
    if (!button->isVisible()) continue;
    EXPECT_NE(button->focusPolicy() & Qt::TabFocus, 0) << button->text().toStdString();
  }
  EXPECT_FALSE(bar()->strip()->accessibleName().isEmpty());
}

TEST(WatchFaultText, NamesTheSourceAndLeavesOtherFaultsTheirWords) {
  const QString source = QStringLiteral("tcp://127.0.0.1:9000");
  for (const ErrorCode code :
       {ErrorCode::kFileNotFound, ErrorCode::kFileUnreadable, ErrorCode::kUnsupportedFormat, ErrorCode::kDamagedFile}) {
    const app::ErrorText text = app::describeWatchFault({code, source.toStdString(), ""}, source);
    EXPECT_TRUE(text.cause.contains(source)) << text.cause.toStdString();
    EXPECT_NE(text.remedy, app::describeError({code, "", ""}).remedy);
  }
  const Error memory{ErrorCode::kOutOfMemory, "", ""};
  EXPECT_EQ(app::describeWatchFault(memory, source).cause, app::describeError(memory).cause);
}

}  // namespace
}  // namespace winnow::test
