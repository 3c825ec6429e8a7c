// ChatDatabase: what is stored comes back, rules hold, faults of the disk lose nothing that was acknowledged.
#include "app/chats/chat/chat_database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <limits>

#include "app/chats/chat/backups.h"
#include "app/chats/chat/chat_search.h"
#include "app/chats/chat/database_file.h"
#include "app/chats/chat/run_json.h"
#include "app/chats/chat/thumbnail_store.h"
#include "tests/support/faulty_vfs.h"

namespace winnow::app {
namespace {

class ChatDatabaseTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(m_home.isValid()); }
  ChatFolders folders() const { return {m_home.filePath(QStringLiteral("data")), m_home.filePath(QStringLiteral("cache"))}; }
  void open(const QByteArray& vfs = {}) {
    m_db.reset();
    m_db = std::make_unique<ChatDatabase>(folders(), vfs);
  }
  ConversationId conversation() { return m_db->createConversation(QStringLiteral("chat"), {}).id; }
  StoredMessage stored(ConversationId id, MessageId message) {
    for (const StoredMessage& m : m_db->loadConversation(id).messages)
      if (m.id == message) return m;
    ADD_FAILURE() << "message " << message << " is missing";
    return {};
  }

  QTemporaryDir m_home;
  std::unique_ptr<ChatDatabase> m_db;
};

Attachment clip() {
  Attachment a;
  a.kind = MediaKind::kVideo;
  a.path = QByteArray("/media/caf\xe9 \n.mp4");  // not UTF-8, with a newline: names are bytes
  a.sha256 = QByteArray(64, 'a');
  a.sizeBytes = qint64{5} << 32;
  a.widthPx = 640;
  a.heightPx = 360;
  a.durationS = 12.5;
  a.plan = {48, 0.0, 1.5, 9.25, 512};
  a.thumbnailPng = QByteArray("\x89PNG thumbnail", 14);
  return a;
}

NamedRecipe mixture() {
  NamedRecipe recipe;
  recipe.name = "my mixture";
  recipe.spec.method = "vl-cache";
  recipe.spec.retention = 0.2;
  recipe.spec.budget_tokens = 77;
  recipe.spec.options = {{"recent_share", "0.25"}};
  recipe.spec.allocator = "meda";
  recipe.spec.reducer = "average";
  recipe.spec.turn_policy = TurnPolicy::kFirstOnly;
  recipe.spec.seed = 5;
  return recipe;
}

Run someRun() {
  Run run;
  run.modelName = QStringLiteral("demo");
  run.modelFolder = QStringLiteral("/models/demo");
  run.device = QStringLiteral("cpu");
  run.figures.method = "vl-cache";
  run.figures.retention = 0.2;
  run.figures.seed = std::numeric_limits<std::uint64_t>::max();
  run.figures.tokens = {700, 576, 124, 33, 1152, 260, 40, 9};
  run.figures.kv_bytes = {1000, 200, 260, 1100, 300, 44, 1060};
  run.stopReason = StopReason::kLength;
  run.figures.timings_ms = {1, 2, 3, 4, 5, 6, 7, 8.5};
  run.figures.tokens_per_s = 41.25;
  run.figures.achieved_retention = 0.26;
  run.timeline.add({12.5, 100, 0, 400, 0, 1000, 0, TimelinePoint::Mark::kPrefillEnd});
  run.timeline.add({80.3, 60, 0, 140, 60, 1060, 41.25, TimelinePoint::Mark::kEnd});
  run.figures.notes = {CompressionNote::kRaisedToFloor, CompressionNote::kNonFinite};
  run.figures.layers = {{120, 118.5, 60, 58.5, {118, 119}, 4096, {{"sparsity", 0.75}, {"skew", -1.5}}, {}, {50, 40.5, 12, 20}},
                        {80, 80, 20, 60, {80, 80}, 2048, {}, {}, {}}};
  run.recipe = mixture();
  run.guard = Guard::kAlone;
  return run;
}

CacheReport someReport(int tokens, int layers, int heads) {
  CacheReport report;
  for (int token = 0; token < tokens; ++token) {
    report.tokens.push_back(
        {Modality::kVisual, 0, token / 196, static_cast<std::int16_t>(token % 196 / 14), static_cast<std::int16_t>(token % 14)});
  }
  for (int layer = 0; layer < layers; ++layer) {
    report.kept.emplace_back();
    report.merged.emplace_back();
    for (int head = 0; head < heads; ++head) {
      std::vector<std::int32_t> kept;
      for (int token = 0; token < tokens; ++token) {
        if ((token * 7 + layer * 3 + head) % 5 == 0) kept.push_back(token);
      }
      report.merged.back().emplace_back(kept.size(), 3);
      report.kept.back().push_back(std::move(kept));
    }
  }
  return report;
}

TEST_F(ChatDatabaseTest, TheKeptMapOfAnAnswerComesBackAndGoesWithIt) {
  open();
  const ConversationId id = conversation();
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("what?"), {}});
  const auto map = std::make_shared<const KeptMap>(KeptMap::fromReport(someReport(32 * 1024, 28, 4)));
  m_db->finishTurn({ids.answer, QStringLiteral("red"), MessageState::kComplete, {}, {}, true, someRun(), map});
  const TurnIds without = m_db->beginTurn({id, ids.answer, QStringLiteral("and?"), {}});
  m_db->finishTurn({without.answer, QStringLiteral("blue"), MessageState::kComplete, {}, {}, true, someRun()});
  open();
  EXPECT_TRUE(stored(id, ids.answer).hasKeptMap);
  EXPECT_FALSE(stored(id, without.answer).hasKeptMap);
  const SharedKeptMap back = m_db->keptMap(ids.answer);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(*back, *map);
  EXPECT_EQ(m_db->keptMap(without.answer), nullptr);
  m_db->deleteConversation(id);
  EXPECT_EQ(m_db->purgeDeletedBefore(std::numeric_limits<qint64>::max()).chats, 1);
  EXPECT_EQ(m_db->keptMap(ids.answer), nullptr);
}

TEST_F(ChatDatabaseTest, AKeptMapAboveTheLimitIsLeftOutAndTheAnswerStays) {
  open();
  const ConversationId id = conversation();
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("what?"), {}});
  const auto map = std::make_shared<const KeptMap>(KeptMap::fromReport(someReport(128 * 1024, 28, 16)));
  ASSERT_GT(map->toBytes().size(), KeptMap::kMaxBytes);
  m_db->finishTurn({ids.answer, QStringLiteral("red"), MessageState::kComplete, {}, {}, true, someRun(), map});
  EXPECT_EQ(stored(id, ids.answer).text, QStringLiteral("red"));
  EXPECT_FALSE(stored(id, ids.answer).hasKeptMap);
}

TEST(RunJson, TimelinesThatAreNoneAreEmptyAndOldSlotCountsHaveNoImages) {
  for (const char* text : {"", "[]", "{}", R"({"timeline": 3})", R"({"timeline": [[1, 2, 3]]})",
                           R"({"timeline": [[-1, 0, 0, 0, 0, 0, 0, 0]]})", R"({"timeline": [["x", 0, 0, 0, 0, 0, 0, 0]]})"}) {
    EXPECT_TRUE(timelineFromJson(text).empty()) << text;
  }
  for (const char* text : {"{}", R"({"guard": 9})", R"({"guard": "alone"})", R"({"guard": null})"}) {
    app::Run run;
    figuresFromJson(text, run);
    EXPECT_EQ(run.guard, Guard::kKeep) << text;
  }
  EXPECT_EQ(timelineFromJson(R"({"timeline": [[5, 1, 2, 3, 4, 9, 0, 77], [3, 0, 0, 0, 0, 0, 0, 0]]})").points.size(), 1U)
      << "time does not run back";
  EXPECT_EQ(slotCountsFromJson("[1,2,3]"), (SlotCounts{1, 2, 3, 0}));
  EXPECT_EQ(slotCountsFromJson("[1,2,3,0.5]"), (SlotCounts{1, 2, 3, 0.5}));
}

TEST_F(ChatDatabaseTest, AQuestionComesBackAsItWasAfterReopening) {
  open();
  const ConversationId id = conversation();
  const QString text =
      QStringLiteral("nul \0 bidi \u202e emoji \U0001F469\u200D\U0001F680 '; DROP TABLE message; --").left(60) + QChar(u'\0');
  const TurnIds ids = m_db->beginTurn({id, 0, text, {clip()}});
  m_db->finishTurn({ids.answer, QStringLiteral("red"), MessageState::kComplete, {}, {}, true, someRun()});
  open();
  const StoredMessage question = stored(id, ids.question);
  EXPECT_EQ(question.text, text);
  ASSERT_EQ(question.attachments.size(), 1);
  const Attachment& a = question.attachments[0];
  EXPECT_EQ(a.path, clip().path);
  EXPECT_EQ(a.sha256, clip().sha256);
  EXPECT_EQ(a.sizeBytes, clip().sizeBytes);
  EXPECT_EQ(a.durationS, 12.5);
  EXPECT_EQ(a.plan.frame_count, 48);
  EXPECT_EQ(a.plan.to_s, 9.25);
  EXPECT_EQ(a.plan.max_frames, 512);
  EXPECT_EQ(a.thumbnailPng, clip().thumbnailPng);
  const StoredMessage answer = stored(id, ids.answer);
  EXPECT_EQ(answer.text, QStringLiteral("red"));
  EXPECT_EQ(answer.state, MessageState::kComplete);
  EXPECT_EQ(answer.parent, ids.question);
}

// An answer that was cut by kill -9 was headed by the model that was loaded at the next start.
TEST_F(ChatDatabaseTest, WhatAnAnswerComesFromIsThereBeforeItsFirstWord) {
  open();
  const ConversationId id = conversation();
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("q"), {}});
  app::Run cause = someRun();
  cause.makers = {{{"mine", cause.recipe.spec}, true}, {mixture(), false}};
  m_db->updateStreaming(ids.answer, {QStringLiteral("half"), cause});
  m_db->updateStreaming(ids.answer, QStringLiteral("half a sen"));
  m_db.reset();
  open();
  const StoredMessage cut = stored(id, ids.answer);
  EXPECT_EQ(cut.state, MessageState::kAbandoned);
  EXPECT_TRUE(cut.hasCause);
  EXPECT_FALSE(cut.hasRun) << "it has no figures";
  EXPECT_EQ(cut.run.modelName, cause.modelName);
  EXPECT_EQ(cut.run.recipe, cause.recipe);
  EXPECT_EQ(cut.run.makers, cause.makers);
  EXPECT_EQ(cut.run.guard, cause.guard);
  m_db->updateStreaming(ids.answer, {QStringLiteral("x"), someRun()});
  EXPECT_EQ(stored(id, ids.answer).run.makers, cause.makers) << "it is not written any more";
}

TEST_F(ChatDatabaseTest, TheEndOfAnAnswerTakesThePlaceOfItsBeginning) {
  open();
  const ConversationId id = conversation();
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("q"), {}});
  m_db->updateStreaming(ids.answer, {QString(), someRun()});
  m_db->updateStreaming(ids.answer, {QString(), someRun()});
  app::Run ended = someRun();
  ended.makers = {{mixture(), true}};
  m_db->finishTurn({ids.answer, QStringLiteral("a"), MessageState::kComplete, {}, {}, true, ended});
  EXPECT_TRUE(stored(id, ids.answer).hasRun);
  EXPECT_EQ(stored(id, ids.answer).run.makers, ended.makers);
  EXPECT_EQ(stored(id, ids.answer).run.figures.layers.size(), 2U);
  // One that failed keeps what it came from.
  const TurnIds failed = m_db->beginAnswer(ids.question);
  FinishedTurn nothing{failed.answer, {}, MessageState::kFailed, QStringLiteral("no"), ErrorCode::kInternal, false, someRun()};
  nothing.hasCause = true;
  m_db->finishTurn(nothing);
  EXPECT_TRUE(stored(id, failed.answer).hasCause);
  EXPECT_FALSE(stored(id, failed.answer).hasRun);
  EXPECT_EQ(stored(id, failed.answer).run.modelName, someRun().modelName);
}

TEST_F(ChatDatabaseTest, FiguresAndLayersOfARunComeBack) {
  open();
  const ConversationId id = conversation();
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("q"), {}});
  m_db->finishTurn({ids.answer, QStringLiteral("a"), MessageState::kComplete, {}, {}, true, someRun()});
  const StoredMessage answer = stored(id, ids.answer);
  ASSERT_TRUE(answer.hasRun);
  const TurnFigures& f = answer.run.figures;
  EXPECT_EQ(f.method, "vl-cache");
  EXPECT_EQ(f.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(f.tokens.visual, 576);
  EXPECT_EQ(f.tokens.thread_visual, 1152);
  EXPECT_EQ(f.tokens.thread_text, 260);
  EXPECT_EQ(f.tokens.unread, 40);
  EXPECT_EQ(f.tokens.pinned, 9);
  EXPECT_EQ(f.kv_bytes.metadata, 44);
  EXPECT_EQ(f.kv_bytes.full_end, 1060);
  EXPECT_EQ(answer.run.stopReason, StopReason::kLength);
  EXPECT_EQ(f.timings_ms.decode_total, 8.5);
  EXPECT_EQ(f.achieved_retention, 0.26);
  EXPECT_EQ(answer.run.timeline, someRun().timeline);
  EXPECT_EQ(f.notes, someRun().figures.notes);
  ASSERT_EQ(f.layers.size(), 2u);
  EXPECT_EQ(f.layers[0].kept, 118.5);
  EXPECT_EQ(f.layers[0].kept_per_head, (std::vector<std::int64_t>{118, 119}));
  EXPECT_EQ(f.layers[1].bytes, 2048);
  EXPECT_EQ(f.layers[0].why, someRun().figures.layers[0].why);
  EXPECT_TRUE(f.layers[1].why.empty());
  EXPECT_EQ(f.layers[0].end, (SlotCounts{50, 40.5, 12, 20}));
  EXPECT_EQ(answer.run.guard, Guard::kAlone);
  EXPECT_EQ(answer.run.recipe, mixture()) << "options and parts of the recipe are lost";
}

TEST_F(ChatDatabaseTest, ARecipeComesBackWithItsChatAndOldRowsHaveOneToo) {
  open();
  ConversationOptions options{.recipe = mixture()};
  const ConversationId id = m_db->createConversation(QStringLiteral("chat"), options).id;
  open();
  EXPECT_EQ(m_db->loadConversation(id).conversation.options.recipe, mixture());
  options.recipe.spec.scorer = "h2o";
  options.recipe.name.clear();
  EXPECT_EQ(m_db->setOptions(id, options).options.recipe, options.recipe);
  ASSERT_EQ(m_db->listConversations().size(), 1);
  EXPECT_EQ(m_db->listConversations().first().options.recipe, options.recipe) << "the list's has parts and options, too";
  m_db.reset();
  // As rows of version 3 look after the migration.
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(QFile::encodeName(folders().data + QStringLiteral("/winnow.db")).constData(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "UPDATE conversation SET recipe_json = '', method = 'snapkv', retention = 0.5", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(raw);
  open();
  NamedRecipe plain{.spec = {.method = "snapkv", .retention = 0.5}};
  EXPECT_EQ(m_db->loadConversation(id).conversation.options.recipe, plain);
}

TEST_F(ChatDatabaseTest, WhatLaterQuestionsGoOnFromComesBackWithItsChat) {
  open();
  ConversationOptions options;
  const ConversationId other = m_db->createConversation(QStringLiteral("other"), options).id;
  options.laterQuestions = Guard::kRam;
  const ConversationId id = m_db->createConversation(QStringLiteral("chat"), options).id;
  options.laterQuestions = Guard::kAlone;
  EXPECT_EQ(m_db->loadConversation(id).conversation.options.laterQuestions, Guard::kRam);
  EXPECT_EQ(m_db->setOptions(id, options).options.laterQuestions, Guard::kAlone);
  open();
  EXPECT_EQ(m_db->loadConversation(id).conversation.options.laterQuestions, Guard::kAlone);
  EXPECT_EQ(m_db->loadConversation(other).conversation.options.laterQuestions, Guard::kKeep);
  for (const Conversation& listed : m_db->listConversations())
    EXPECT_EQ(listed.options.laterQuestions, listed.id == id ? Guard::kAlone : Guard::kKeep);
}

TEST_F(ChatDatabaseTest, SamplingAndSystemPromptComeBackWithTheirChat) {
  open();
  ConversationOptions options;
  const ConversationId other = m_db->createConversation(QStringLiteral("other"), options).id;
  options.systemPrompt = QStringLiteral("Answer in French.");
  options.sampling.temperature = 0.7;
  options.sampling.top_k = 0;  // chosen, and not the same as nothing
  options.sampling.seed = std::numeric_limits<std::uint64_t>::max();
  options.sampling.max_new_tokens = 1024;
  const ConversationId id = m_db->createConversation(QStringLiteral("chat"), options).id;
  open();
  EXPECT_EQ(m_db->conversation(id).options.sampling, options.sampling);
  EXPECT_EQ(m_db->conversation(id).options.systemPrompt, options.systemPrompt);
  EXPECT_TRUE(m_db->conversation(other).options.sampling.empty());
  options.sampling = {};
  EXPECT_TRUE(m_db->setOptions(id, options).options.sampling.empty());
  options.systemPrompt = QString(kMaxMessageBytes + 1, QLatin1Char('x'));
  EXPECT_THROW(m_db->createConversation(QStringLiteral("long"), options), Exception);
}

TEST_F(ChatDatabaseTest, SampledTimesComeBackWithTheirAttachment) {
  open();
  const ConversationId id = conversation();
  Attachment second = clip();
  second.path = "/media/other.mp4";
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("q"), {clip(), second}});
  EXPECT_EQ(stored(id, ids.question).attachments[1].sampled, SampledTimes{});
  m_db->storeSampled(ids.question, 1, {{0.5, 1.5}, {0.5, 1.48}});
  m_db->storeSampled(ids.question, 1, {{0.1, 1.1, 2.1}, {0.1, 1.0, 2.0}});  // asked again
  open();
  EXPECT_EQ(stored(id, ids.question).attachments[0].sampled, SampledTimes{});
  EXPECT_EQ(stored(id, ids.question).attachments[1].sampled, (SampledTimes{{0.1, 1.1, 2.1}, {0.1, 1.0, 2.0}}));
  EXPECT_THROW(m_db->storeSampled(ids.question, 2, {}), Exception);
  EXPECT_THROW(m_db->storeSampled(ids.answer, 0, {}), Exception);
}

TEST_F(ChatDatabaseTest, WhatWasNoticedOfAnyMediumComesBackWithIt) {
  open();
  const ConversationId id = conversation();
  Attachment picture = clip();
  picture.kind = MediaKind::kImage;
  picture.path = "/media/moving.gif";
  Attachment text = clip();
  text.kind = MediaKind::kDocument;
  text.path = "/media/notes.txt";
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("q"), {clip(), picture, text}});
  SampledTimes video{{0.5}, {0.5}};
  video.notices = {{NoticeCode::kCutOff, 1234}, {NoticeCode::kDamaged}};
  SampledTimes still{.notices = {{NoticeCode::kAnimated}}};
  SampledTimes document{.tokens = 12, .notices = {{NoticeCode::kDamaged, 1, 2, "a \"name\""}}};
  m_db->storeSampled(ids.question, 0, video);
  m_db->storeSampled(ids.question, 1, still);
  m_db->storeSampled(ids.question, 2, document);
  open();
  const QList<Attachment> kept = stored(id, ids.question).attachments;
  EXPECT_EQ(kept[0].sampled, video);
  EXPECT_EQ(kept[1].sampled, still);
  EXPECT_EQ(kept[2].sampled, document);
}

TEST_F(ChatDatabaseTest, AFileThatWasMovedIsMovedInItsChatAlone) {
  open();
  const ConversationId id = conversation();
  const ConversationId other = conversation();
  Attachment subtitled = clip();
  subtitled.subtitles = subtitled.path;
  const TurnIds here = m_db->beginTurn({id, 0, QStringLiteral("q"), {subtitled}});
  const TurnIds there = m_db->beginTurn({other, 0, QStringLiteral("q"), {subtitled}});
  m_db->moveMedia(id, subtitled.path, "/archive/clip.mp4");
  open();
  EXPECT_EQ(stored(id, here.question).attachments[0].path, QByteArray("/archive/clip.mp4"));
  EXPECT_EQ(stored(id, here.question).attachments[0].subtitles, QByteArray("/archive/clip.mp4"));
  EXPECT_EQ(stored(other, there.question).attachments[0].path, subtitled.path);
}

TEST_F(ChatDatabaseTest, PinsComeBackWithDraftsAndQuestions) {
  open();
  const ConversationId id = conversation();
  Attachment pinned = clip();
  pinned.pins = {{1.0 / 3.0, 2.5}, {7.0, 8.0}};
  m_db->saveDraft(id, {QStringLiteral("q"), {pinned}});
  open();
  EXPECT_EQ(m_db->loadConversation(id).draft.attachments.at(0).pins, pinned.pins);
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("q"), {clip(), pinned}});
  open();
  EXPECT_TRUE(stored(id, ids.question).attachments[0].pins.empty());
  EXPECT_EQ(stored(id, ids.question).attachments[1].pins, pinned.pins);
  m_db->storeAsked(ids.question, 1, clip());
  pinned.pins = {{4.0, 5.0}};
  m_db->storeAsked(ids.question, 0, pinned);
  open();
  EXPECT_EQ(stored(id, ids.question).attachments[0].pins, (PinnedRanges{{4.0, 5.0}}));
  EXPECT_TRUE(stored(id, ids.question).attachments[1].pins.empty());
  EXPECT_THROW(m_db->storeAsked(ids.question, 2, {}), Exception);
}

TEST_F(ChatDatabaseTest, APartOfAVideosFramesIsStoredWithItsQuestion) {
  open();
  const ConversationId id = conversation();
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("q"), {clip(), clip()}});
  Attachment part = clip();
  part.plan.taken = 12;
  part.plan.set_frames = 2;
  m_db->storeAsked(ids.question, 1, part);
  open();
  EXPECT_EQ(stored(id, ids.question).attachments[0].plan, clip().plan);
  EXPECT_EQ(stored(id, ids.question).attachments[1].plan, part.plan);
  const TurnIds next = m_db->beginTurn({id, ids.answer, QStringLiteral("q"), stored(id, ids.question).attachments});
  EXPECT_EQ(stored(id, next.question).attachments[1].plan, part.plan);
}

TEST_F(ChatDatabaseTest, FiguresThatAreNoNumbersAreStoredAsNothing) {
  open();
  const TurnIds ids = m_db->beginTurn({conversation(), 0, QStringLiteral("q"), {}});
  auto run = someRun();
  run.figures.tokens_per_s = std::numeric_limits<double>::quiet_NaN();
  run.figures.retention = std::numeric_limits<double>::infinity();
  run.figures.layers[0].kept = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NO_THROW(m_db->finishTurn({ids.answer, QStringLiteral("a"), MessageState::kComplete, {}, {}, true, run}));
}

// Answers of version 0.1 have neither the full cache with the answer nor the thread's tokens.
TEST(RunJson, FiguresOfOlderVersionsAreFilledFromWhatTheyHave) {
  winnow::app::Run drawn;
  figuresFromJson(R"({"kv_bytes_full": 1000, "kv_bytes_end": 260, "visual_tokens": 576, "text_tokens": 20,
                      "timeline": [[5, 60, 0, 140, 0, 1000, 0, 2], [9, 60, 0, 140, 60, 1060, 4, 4]]})",
                  drawn);
  EXPECT_EQ(drawn.figures.kv_bytes.full_end, 1060);
  EXPECT_EQ(drawn.figures.tokens.thread_visual, 576);
  EXPECT_EQ(drawn.figures.tokens.thread_text, 20);
  EXPECT_EQ(drawn.stopReason, StopReason::kStopToken);
  winnow::app::Run bare;
  figuresFromJson(R"({"kv_bytes_full": 100, "kv_bytes_end": 897})", bare);
  EXPECT_EQ(bare.figures.kv_bytes.full_end, 897) << "never less than what is in use";
}

TEST_F(ChatDatabaseTest, AnAnswerCutOffByTheEndOfTheProgramIsInterruptedAtTheNextStart) {
  open();
  const ConversationId id = conversation();
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("q"), {}});
  m_db->updateStreaming(ids.answer, {QStringLiteral("half an ans")});
  EXPECT_EQ(m_db->recoveredAnswers(), 0);
  open();
  EXPECT_EQ(m_db->recoveredAnswers(), 1);
  EXPECT_EQ(stored(id, ids.answer).state, MessageState::kAbandoned);
  EXPECT_EQ(stored(id, ids.answer).text, QStringLiteral("half an ans"));
  EXPECT_EQ(m_db->search(QStringLiteral("half")).size(), 1);
  m_db->updateStreaming(ids.answer, {QStringLiteral("late")});  // a late write of the old run changes nothing
  EXPECT_EQ(stored(id, ids.answer).text, QStringLiteral("half an ans"));
}

TEST_F(ChatDatabaseTest, AnAnswerThatWasBegunAgainForNothingIsWithdrawn) {
  open();
  const ConversationId id = conversation();
  const TurnIds first = m_db->beginTurn({id, 0, QStringLiteral("q"), {}});
  m_db->finishTurn({first.answer, QStringLiteral("an answer"), MessageState::kComplete, {}, {}, false, {}});
  const TurnIds later = m_db->beginTurn({id, first.answer, QStringLiteral("and then?"), {}});
  m_db->finishTurn({later.answer, QStringLiteral("more"), MessageState::kComplete, {}, {}, false, {}});
  const TurnIds again = m_db->beginAnswer(first.question);
  const Conversation after = m_db->setActiveLeaf(id, later.answer, again.answer);
  EXPECT_EQ(after.activeLeaf, later.answer);
  EXPECT_EQ(after.messageCount, 4);
  EXPECT_EQ(m_db->loadConversation(id).messages.size(), 4);
  EXPECT_THROW(m_db->setActiveLeaf(id, first.answer, later.answer), Exception) << "it is finished";
  EXPECT_THROW(m_db->setActiveLeaf(id, later.answer, again.answer), Exception) << "it is gone";
}

// The end of the program came before the first word of an answer that was continued, or asked for again.
TEST_F(ChatDatabaseTest, WhatAddedNothingToAnEarlierAnswerIsNotThereAtTheNextStart) {
  open();
  const ConversationId id = conversation();
  const TurnIds first = m_db->beginTurn({id, 0, QStringLiteral("q"), {}});
  m_db->finishTurn({first.answer, QStringLiteral("one two"), MessageState::kComplete, {}, {}, false, {}});
  const TurnIds later = m_db->beginTurn({id, first.answer, QStringLiteral("and then?"), {}});
  m_db->finishTurn({later.answer, QStringLiteral("more"), MessageState::kComplete, {}, {}, false, {}});
  for (const QString& written : {QString(), QStringLiteral("one two")}) {
    const TurnIds again = m_db->beginAnswer(first.question);
    m_db->updateStreaming(again.answer, {written});
    open();
    EXPECT_EQ(m_db->recoveredAnswers(), 0);
    EXPECT_EQ(m_db->loadConversation(id).messages.size(), 4);
    EXPECT_EQ(m_db->loadConversation(id).conversation.activeLeaf, later.answer) << "as it was on screen";
    EXPECT_EQ(m_db->loadConversation(id).conversation.messageCount, 4);
  }
  // What says more stays, and so does the only answer of a question.
  const TurnIds more = m_db->beginAnswer(first.question);
  m_db->updateStreaming(more.answer, {QStringLiteral("one two three")});
  const TurnIds only = m_db->beginTurn({id, later.answer, QStringLiteral("and now?"), {}});
  open();
  EXPECT_EQ(m_db->recoveredAnswers(), 2);
  EXPECT_EQ(stored(id, more.answer).state, MessageState::kAbandoned);
  EXPECT_EQ(stored(id, only.answer).state, MessageState::kAbandoned);
}

TEST_F(ChatDatabaseTest, AFailedAnswerKeepsItsReason) {
  open();
  const ConversationId id = conversation();
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("q"), {}});
  m_db->finishTurn({ids.answer, {}, MessageState::kFailed, QStringLiteral("no memory"), ErrorCode::kOutOfMemory, false, {}});
  EXPECT_EQ(stored(id, ids.answer).failureCode, ErrorCode::kOutOfMemory);
  EXPECT_EQ(stored(id, ids.answer).failure, QStringLiteral("no memory"));
}

TEST_F(ChatDatabaseTest, AnAnswerIsFinishedOnce) {
  open();
  const TurnIds ids = m_db->beginTurn({conversation(), 0, QStringLiteral("q"), {}});
  const FinishedTurn finished{ids.answer, QStringLiteral("a"), MessageState::kComplete, {}, {}, false, {}};
  m_db->finishTurn(finished);
  EXPECT_THROW(m_db->finishTurn(finished), Exception);
}

TEST_F(ChatDatabaseTest, RegeneratingAddsASiblingAndMakesItTheLeaf) {
  open();
  const ConversationId id = conversation();
  const TurnIds first = m_db->beginTurn({id, 0, QStringLiteral("q"), {}});
  const TurnIds second = m_db->beginAnswer(first.question);
  const LoadedConversation loaded = m_db->loadConversation(id);
  EXPECT_EQ(loaded.conversation.activeLeaf, second.answer);
  EXPECT_EQ(loaded.conversation.messageCount, 3);
  EXPECT_EQ(siblingsOf(loaded.messages, second.answer), (QList<MessageId>{first.answer, second.answer}));
  EXPECT_THROW(m_db->beginAnswer(first.answer), Exception);  // not a question
}

TEST_F(ChatDatabaseTest, DeletedConversationsComeBackUntilPurged) {
  open();
  const ConversationId id = conversation();
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("needle"), {clip()}});
  m_db->finishTurn({ids.answer, QStringLiteral("hay"), MessageState::kComplete, {}, {}, true, someRun()});
  m_db->deleteConversation(id);
  EXPECT_TRUE(m_db->listConversations().isEmpty());
  EXPECT_EQ(m_db->listConversations(ChatDatabase::Listed::kDeleted).size(), 1);
  EXPECT_TRUE(m_db->search(QStringLiteral("needle")).isEmpty());
  m_db->restoreConversation(id);
  EXPECT_EQ(m_db->listConversations().size(), 1);
  EXPECT_EQ(m_db->search(QStringLiteral("needle")).size(), 1);
  m_db->deleteConversation(id);
  EXPECT_EQ(m_db->purgeDeletedBefore(1).chats, 0);
  EXPECT_EQ(m_db->purgeDeletedBefore(std::numeric_limits<qint64>::max()).chats, 1);
  EXPECT_THROW(m_db->loadConversation(id), Exception);
  EXPECT_NO_THROW(requireWhole(ChatDatabase::databaseFile(folders())));
}

TEST_F(ChatDatabaseTest, PurgesAThreadLongerThanTheTriggerDepth) {
  open();
  const ConversationId id = conversation();
  MessageId leaf = 0;
  for (int i = 0; i < 510; ++i) leaf = m_db->beginTurn({id, leaf, QStringLiteral("q"), {}}).answer;  // 1,020 messages in one chain
  m_db->deleteConversation(id);
  EXPECT_EQ(m_db->purgeDeletedBefore(std::numeric_limits<qint64>::max()).chats, 1);
}

TEST_F(ChatDatabaseTest, ListsPinnedFirstThenLastUsedWhateverTheClockSays) {
  open();
  const ConversationId a = conversation(), b = conversation(), c = conversation();
  m_db->beginTurn({a, 0, QStringLiteral("  first\n words "), {}});
  m_db->setPinned(b, true);
  const QList<Conversation> list = m_db->listConversations();
  ASSERT_EQ(list.size(), 3);
  EXPECT_EQ(list[0].id, b);
  EXPECT_EQ(list[1].id, a);
  EXPECT_EQ(list[2].id, c);
  EXPECT_EQ(list[1].preview, QStringLiteral("first words"));
}

TEST_F(ChatDatabaseTest, DraftAndViewSurviveAndSendingClearsTheDraft) {
  open();
  const ConversationId id = conversation();
  m_db->saveDraft(id, {QStringLiteral("not yet"), {clip(), clip()}});
  m_db->saveDraft(id, {QStringLiteral("not yet sent"), {clip()}});
  m_db->saveViewState(id, {7, -12.5});
  open();
  LoadedConversation loaded = m_db->loadConversation(id);
  EXPECT_EQ(loaded.draft.text, QStringLiteral("not yet sent"));
  ASSERT_EQ(loaded.draft.attachments.size(), 1);
  EXPECT_EQ(loaded.draft.attachments[0].thumbnailPng, clip().thumbnailPng);
  EXPECT_EQ(loaded.view.anchorMessage, 7);
  EXPECT_EQ(loaded.view.anchorOffset, -12.5);
  EXPECT_TRUE(loaded.messages.isEmpty());
  m_db->beginTurn({id, 0, QStringLiteral("sent"), {}});
  loaded = m_db->loadConversation(id);
  EXPECT_EQ(loaded.draft.text, QString());
  EXPECT_TRUE(loaded.draft.attachments.isEmpty());
}

// Six drafts were six rows "New chat".
TEST_F(ChatDatabaseTest, AChatWithoutATitleIsCalledByWhatItBeginsWith) {
  open();
  const ConversationId id = m_db->createConversation({}, {}).id;
  const auto called = [&] { return m_db->conversation(id).preview.toStdString(); };
  EXPECT_EQ(called(), "");
  Attachment photo{.path = "/photos/kitchen.png"};
  const std::optional<Conversation> byFile = m_db->saveDraft(id, {{}, {photo}});
  ASSERT_TRUE(byFile);
  EXPECT_EQ(byFile->preview, QStringLiteral("kitchen.png"));
  EXPECT_FALSE(m_db->saveDraft(id, {{}, {photo}})) << "it is called so already";
  ASSERT_TRUE(m_db->saveDraft(id, {QStringLiteral("what  is\non it"), {photo}}));
  EXPECT_EQ(called(), "what is on it");
  ASSERT_TRUE(m_db->saveDraft(id, {}));
  EXPECT_EQ(called(), "");
  m_db->beginTurn({id, 0, {}, {photo}});
  EXPECT_EQ(called(), "kitchen.png");
  EXPECT_FALSE(m_db->saveDraft(id, {QStringLiteral("and now?"), {}})) << "what was asked first stays its name";
  EXPECT_EQ(called(), "kitchen.png");
}

TEST_F(ChatDatabaseTest, SearchFindsFilesByTheirNamesAndDrafts) {
  open();
  const ConversationId id = m_db->createConversation({}, {}).id;
  Attachment film = clip();
  film.path = "/films/holiday_in-Lyon.mp4";
  const auto found = [&](const char* words) {
    const QList<SearchHit> hits = m_db->search(QString::fromUtf8(words));
    return hits.size() == 1 && hits[0].conversation == id ? hits[0].snippet.toStdString() : "no hit";
  };
  m_db->saveDraft(id, {QStringLiteral("the bridge over the river"), {film}});
  EXPECT_EQ(found("the BRIDGE"), "");
  EXPECT_EQ(found("lyon"), "holiday_in-\u2068Lyon\u2069.mp4");
  EXPECT_EQ(found("films"), "no hit") << "folders are not what people look for";
  const TurnIds ids = m_db->beginTurn({id, 0, QStringLiteral("where?"), {film}});
  EXPECT_EQ(found("lyon"), "holiday_in-\u2068Lyon\u2069.mp4") << "once: the draft is the question now";
  m_db->moveMedia(id, film.path, "/moved/paris.mp4");
  EXPECT_EQ(found("lyon"), "no hit");
  EXPECT_EQ(found("paris"), "\u2068paris\u2069.mp4");
  EXPECT_THROW(m_db->storeSampled(ids.question, 7, {}), Exception);
  m_db->deleteConversation(id);
  EXPECT_EQ(found("paris"), "no hit");
  EXPECT_EQ(m_db->purgeDeletedBefore(std::numeric_limits<qint64>::max()).chats, 1);
  EXPECT_TRUE(m_db->search(QStringLiteral("paris")).isEmpty());
}

class FileLinesTest : public ChatDatabaseTest {
 protected:
  void SetUp() override {
    ChatDatabaseTest::SetUp();
    open();
  }
  TurnIds asked(ConversationId chat, const Attachment& file) { return m_db->beginTurn({chat, 0, QStringLiteral("and?"), {file}}); }
  void say(const Attachment& file, const std::vector<TimedLine>& lines, LineKind kind = LineKind::kSubtitle) {
    m_db->storeLines(file.sha256, kind, fileLines(lines, kind));
  }
  // "chat 1, message 2, at 3 s: text", a line each.
  std::string found(const char* words) {
    std::string all;
    for (const SearchHit& hit : m_db->search(QString::fromUtf8(words))) {
      if (hit.place)
        all += std::to_string(hit.conversation) + " " + std::to_string(hit.message) + " " +
               QString::number(hit.place->line.startS).toStdString() + " " + hit.snippet.toStdString() + "\n";
    }
    return all;
  }
};

TEST_F(FileLinesTest, AreFoundAtTheirTimesInEveryChatThatHasTheFile) {
  const ConversationId first = conversation(), second = conversation();
  const TurnIds one = asked(first, clip());
  say(clip(), {{1.5, 2.0, "Where is the château?"}, {4.0, 5.0, "Over there."}});
  const std::string at = " 1.5 Where is the \u2068château\u2069?\n";
  EXPECT_EQ(found("chateau"), std::to_string(first) + " " + std::to_string(one.question) + at);
  asked(second, clip());
  const TurnIds again = asked(second, clip());
  EXPECT_EQ(found("chateau"), std::to_string(first) + " " + std::to_string(one.question) + at + std::to_string(second) + " " +
                                  std::to_string(again.question) + at)
      << "once a chat, where it was attached last";
  const SearchHit hit = m_db->search(QStringLiteral("there")).front();
  EXPECT_EQ(hit.place->path, clip().path);
  EXPECT_EQ(hit.place->medium, MediaKind::kVideo);
  EXPECT_EQ(hit.place->line.endS, 5.0);
  m_db->deleteConversation(second);
  EXPECT_EQ(found("chateau"), std::to_string(first) + " " + std::to_string(one.question) + at);
}

TEST_F(FileLinesTest, WordsOfOneFileCountTogether) {
  asked(conversation(), clip());
  say(clip(), {{1, 2, "a red kite"}, {3, 4, "over a lake"}, {5, 6, "a kite on a lake"}});
  EXPECT_EQ(m_db->search(QStringLiteral("kite lake")).size(), 1) << "a line that has them all is the place";
  say(clip(), {{1, 2, "a red kite"}, {3, 4, "over a lake"}});
  const QList<SearchHit> apart = m_db->search(QStringLiteral("kite lake"));
  ASSERT_EQ(apart.size(), 2);
  EXPECT_NE(apart[0].place->line.startS, apart[1].place->line.startS);
  Attachment other = clip();
  other.sha256 = QByteArray(64, 'b');
  asked(conversation(), other);
  say(other, {{9, 10, "no bird, a lake"}});
  EXPECT_EQ(m_db->search(QStringLiteral("kite lake")).size(), 2) << "another file has one of the words";
}

TEST_F(FileLinesTest, OfTheChatAreFoundThatFitAnAnswerBest) {
  const ConversationId chat = conversation();
  const TurnIds ids = asked(chat, clip());
  say(clip(), {{1, 2, "The keeper wrote a letter."},
               {3, 4, "Is the lamp of the tower lit?"},
               {5, 6, "The lamp is lit at nine, and his sister is in Boston."}});
  Attachment elsewhere = clip();
  elsewhere.sha256 = QByteArray(64, 'b');
  asked(conversation(), elsewhere);
  say(elsewhere, {{9, 10, "his sister in Boston"}});
  say(clip(), {{5, 6, "his sister in Boston, described"}}, LineKind::kDescribed);
  m_db->updateStreaming(ids.answer, QStringLiteral("\"Boston\": his *sister* (NOT near) lives there."));
  const QList<SearchHit> lines = m_db->search(AnswerOfChat{chat, ids.answer}, 3);
  ASSERT_EQ(lines.size(), 1) << "the other lines have no word of it, or are of another chat, or the model's own";
  EXPECT_EQ(lines[0].place->line.startS, 5.0);
  EXPECT_EQ(lines[0].message, ids.question);
  const TurnIds later = m_db->beginTurn({chat, ids.answer, QStringLiteral("Which lamp is lit?"), {}});
  m_db->updateStreaming(later.answer, QStringLiteral("Yes."));
  const QList<SearchHit> byQuestion = m_db->search(AnswerOfChat{chat, later.answer}, 1);
  ASSERT_EQ(byQuestion.size(), 1);
  EXPECT_EQ(byQuestion[0].place->line.startS, 3.0) << "lamp, lit and is, in the shorter line";
  EXPECT_TRUE(m_db->search(AnswerOfChat{conversation(), later.answer}, 3).isEmpty()) << "a chat without files";
}

TEST_F(FileLinesTest, TakeThePlaceOfThoseOfTheirKind) {
  const ConversationId id = conversation();
  asked(id, clip());
  say(clip(), {{1, 2, "heard first"}}, LineKind::kHeard);
  say(clip(), {{0.5, 2, "described"}}, LineKind::kDescribed);
  say(clip(), {{3, 4, "heard later"}, {2, 3, "in between"}}, LineKind::kHeard);
  EXPECT_EQ(found("first"), "");
  QStringList texts;
  for (const FileLine& line : m_db->linesOf(clip().sha256)) texts << line.text;
  EXPECT_EQ(texts.join(QLatin1Char('|')).toStdString(), "described|in between|heard later");
  EXPECT_TRUE(m_db->loadConversation(id).messages[0].attachments[0].hasContents);
  EXPECT_THROW(m_db->storeLines({}, LineKind::kHeard, {}), Exception);
}

// Deleted with the last chat that has the file.
TEST_F(FileLinesTest, GoWithTheLastChatThatHasTheFile) {
  const ConversationId first = conversation(), second = conversation();
  asked(first, clip());
  m_db->saveDraft(second, {QStringLiteral("later"), {clip()}});
  say(clip(), {{1, 2, "the budget"}});
  m_db->deleteConversation(first);
  const ThumbnailStore pictures(folders().cache);
  PurgedChats purged = m_db->purgeDeletedBefore(std::numeric_limits<qint64>::max());
  EXPECT_EQ(purged.chats, 1);
  EXPECT_TRUE(purged.files.isEmpty());
  EXPECT_FALSE(pictures.load(clip()).isEmpty());
  EXPECT_EQ(found("budget"), std::to_string(second) + " 0 1 the \u2068budget\u2069\n") << "a draft has it still";
  m_db->saveDraft(second, {});
  m_db->purgeDeletedBefore(std::numeric_limits<qint64>::max());
  EXPECT_TRUE(m_db->linesOf(clip().sha256).isEmpty());
  asked(second, clip());
  EXPECT_EQ(found("budget"), "") << "neither the lines nor their index";
  m_db->deleteConversation(second);
  purged = m_db->purgeDeletedBefore(std::numeric_limits<qint64>::max());
  ASSERT_EQ(purged.files.size(), 1) << "once, however often it was attached";
  EXPECT_EQ(purged.files[0].path, clip().path);
  EXPECT_EQ(purged.files[0].sha256, clip().sha256);
  EXPECT_TRUE(pictures.load(clip()).isEmpty());
}

TEST_F(FileLinesTest, OfAFolderOfVideosAreFoundWithoutAChat) {
  Attachment film = clip();
  film.path = QFile::encodeName(m_home.filePath(QStringLiteral("films/clip.mp4")));
  const auto keep = [&] { m_db->purgeDeletedBefore(std::numeric_limits<qint64>::max()); };
  ASSERT_TRUE(QDir(m_home.path()).mkdir(QStringLiteral("films")));
  QFile file(QFile::decodeName(film.path));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  say(film, {{1, 2, "the budget"}, {3, 4, "was cut"}});
  EXPECT_EQ(found("budget"), "") << "no chat has it, no folder either";
  for (const QByteArray& path : {QByteArray("/elsewhere/clip.mp4"), film.path, film.path}) m_db->storeOnShelf(film.sha256, path);
  keep();
  EXPECT_EQ(found("budget"), "0 0 1 the \u2068budget\u2069\n");
  EXPECT_EQ(m_db->search(QStringLiteral("budget cut")).size(), 2) << "in two lines";
  const SearchHit hit = m_db->search(QStringLiteral("budget")).front();
  EXPECT_EQ(hit.place->path, film.path);
  EXPECT_EQ(hit.place->medium, MediaKind::kVideo);
  const ConversationId chat = conversation();
  const TurnIds ids = asked(chat, film);
  EXPECT_EQ(found("budget"), std::to_string(chat) + " " + std::to_string(ids.question) + " 1 the \u2068budget\u2069\n") << "once";
  m_db->deleteConversation(chat);
  keep();
  EXPECT_EQ(found("budget"), "0 0 1 the \u2068budget\u2069\n");
  ASSERT_TRUE(QDir(m_home.path()).rename(QStringLiteral("films"), QStringLiteral("out")));
  keep();
  EXPECT_NE(found("budget"), "") << "a drive that is not in";
  ASSERT_TRUE(QDir(m_home.path()).mkdir(QStringLiteral("films")));
  keep();
  EXPECT_EQ(found("budget"), "");
  EXPECT_TRUE(m_db->linesOf(film.sha256).isEmpty()) << "it is gone from its folder";
}

TEST_F(FileLinesTest, SavedChatsAreSearchedWhileTheyAreOpen) {
  const ConversationId id = conversation();
  asked(id, clip());
  say(clip(), {{1, 2, "the budget"}});
  EXPECT_EQ(searchSavedChats(folders(), QStringLiteral("budget"), 50).size(), 1);
  say(clip(), {{1, 2, "the tariff"}});
  EXPECT_EQ(searchSavedChats(folders(), QStringLiteral("budget"), 50).size(), 0);
  m_db.reset();
  EXPECT_EQ(searchSavedChats(folders(), QStringLiteral("tariff"), 50).size(), 1);
  const ChatFolders none{m_home.filePath(QStringLiteral("none")), {}};
  EXPECT_TRUE(searchSavedChats(none, QStringLiteral("tariff"), 50).isEmpty());
  EXPECT_FALSE(QFile::exists(none.data)) << "looking makes nothing";
}

TEST_F(ChatDatabaseTest, SearchTakesWordsLiterally) {
  open();
  const ConversationId id = conversation();
  m_db->beginTurn({id, 0, QStringLiteral("the caf\u00e9 has a red \"door\""), {}});
  EXPECT_EQ(m_db->search(QStringLiteral("cafe door")).size(), 1);
  EXPECT_EQ(m_db->search(QStringLiteral("doo")).size(), 1);  // a beginning counts
  EXPECT_TRUE(m_db->search(QStringLiteral("red green")).isEmpty());
  for (const char* hostile : {"\"", "\" OR NEAR(*", "text:red", "a*b^", "-red", "(", "AND", "'; DROP TABLE message;--", "%", "_"})
    EXPECT_NO_THROW(m_db->search(QString::fromUtf8(hostile))) << hostile;
  EXPECT_TRUE(m_db->search(QStringLiteral("%")).isEmpty());
  EXPECT_EQ(m_db->search(QStringLiteral("cha")).size(), 1);  // the title
}

TEST_F(ChatDatabaseTest, RefusesWhatIsTooLargeOrUnknown) {
  open();
  const ConversationId id = conversation();
  const auto code = [&](const NewQuestion& question) {
    try {
      m_db->beginTurn(question);
    } catch (const Exception& error) {
      return error.error().code;
    }
    return ErrorCode::kInternal;
  };
  EXPECT_EQ(code({id, 0, QString(kMaxMessageBytes + 1, QLatin1Char('x')), {}}), ErrorCode::kLimitExceeded);
  EXPECT_EQ(code({id, 0, QString(kMaxMessageBytes / 2 + 1, QChar(u'\u00e9')), {}}), ErrorCode::kLimitExceeded);  // bytes, not characters
  EXPECT_EQ(code({id, 0, {}, QList<Attachment>(kMaxAttachments + 1, clip())}), ErrorCode::kLimitExceeded);
  EXPECT_EQ(code({id, 0, {}, {}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({id + 1, 0, QStringLiteral("q"), {}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({id, 99, QStringLiteral("q"), {}}), ErrorCode::kInvalidArgument);
  Attachment nameless = clip();
  nameless.path = QByteArray("a\0b", 3);
  EXPECT_EQ(code({id, 0, {}, {nameless}}), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(m_db->loadConversation(id).messages.isEmpty());
  EXPECT_NO_THROW(m_db->beginTurn({id, 0, QString(kMaxMessageBytes, QLatin1Char('x')), {}}));
}

TEST_F(ChatDatabaseTest, ClearedCacheCostsOnlyTheThumbnails) {
  open();
  const ConversationId id = conversation();
  const TurnIds ids = m_db->beginTurn({id, 0, {}, {clip()}});
  ASSERT_TRUE(QDir(folders().cache).removeRecursively());
  const StoredMessage question = stored(id, ids.question);
  ASSERT_EQ(question.attachments.size(), 1);
  EXPECT_TRUE(question.attachments[0].thumbnailPng.isEmpty());
}

TEST_F(ChatDatabaseTest, SettingsAreWrittenAndReplaced) {
  open();
  m_db->setSetting(QStringLiteral("a"), QStringLiteral("1"));
  m_db->setSetting(QStringLiteral("a"), QStringLiteral("2"));
  m_db->setSetting(QStringLiteral("b"), QString());
  open();
  EXPECT_EQ(m_db->settings().value(QStringLiteral("a")), QStringLiteral("2"));
  EXPECT_EQ(m_db->settings().size(), 2);
}

TEST_F(ChatDatabaseTest, ABackupOpensAsADatabase) {
  open();
  const ConversationId id = conversation();
  const QString copy = m_home.filePath(QStringLiteral("copy"));
  ASSERT_TRUE(QDir().mkpath(copy));
  ASSERT_TRUE(QFile::copy(makeBackup(folders(), 1'700'000'000'000).file, copy + QStringLiteral("/winnow.db")));
  ChatDatabase restored({copy, folders().cache});
  EXPECT_EQ(restored.conversation(id).title, QStringLiteral("chat"));
}

// The anomaly loop: the k-th write, sync or truncate of one turn fails, for every k until the turn gets through untouched.
class FaultTest : public ChatDatabaseTest, public testing::WithParamInterface<int> {};

TEST_P(FaultTest, TheKthFailureIsReportedEarlierRowsStayAndRetryWorks) {
  test::register_faulty_vfs();
  test::arm_fault(0, SQLITE_OK);
  open(test::kFaultyVfs);
  const ConversationId id = conversation();
  const TurnIds before = m_db->beginTurn({id, 0, QStringLiteral("before"), {}});
  m_db->finishTurn({before.answer, QStringLiteral("safe"), MessageState::kComplete, {}, {}, false, {}});
  MessageId leaf = before.answer;
  int faults = 0;
  for (int k = 1; k < 200; ++k) {
    test::arm_fault(k, GetParam());
    TurnIds ids;
    bool failed = false;
    const auto turn = [&] {
      ids = m_db->beginTurn({id, leaf, QStringLiteral("question %1").arg(k), {clip()}});
      m_db->updateStreaming(ids.answer, {QString(9000, QLatin1Char('s'))});
      m_db->finishTurn({ids.answer, QStringLiteral("answer %1").arg(k), MessageState::kComplete, {}, {}, false, {}});
    };
    try {
      turn();
    } catch (const Exception& error) {
      failed = true;
      EXPECT_TRUE(is_storage(error.error().code));
      EXPECT_FALSE(error.error().reason.empty());
    }
    const bool fired = test::fault_fired();
    test::arm_fault(0, SQLITE_OK);
    EXPECT_TRUE(!failed || fired) << "k=" << k;
    if (failed) {
      ASSERT_NO_THROW(turn()) << "k=" << k << ": the retry after the fault";
    }
    ASSERT_NO_THROW(requireWhole(ChatDatabase::databaseFile(folders()))) << "k=" << k;
    EXPECT_EQ(stored(id, before.answer).text, QStringLiteral("safe"));
    EXPECT_EQ(stored(id, ids.question).text, QStringLiteral("question %1").arg(k));
    EXPECT_EQ(stored(id, ids.answer).text, QStringLiteral("answer %1").arg(k));
    leaf = ids.answer;
    faults += fired ? 1 : 0;
    if (!fired) break;
  }
  EXPECT_GE(faults, 6);  // three transactions, each at least a write and a sync
}

INSTANTIATE_TEST_SUITE_P(Codes, FaultTest, testing::Values(SQLITE_FULL, SQLITE_IOERR_WRITE),
                         [](const auto& info) { return info.param == SQLITE_FULL ? "DiskFull" : "WriteError"; });

// SQLite says "malformed" of a page that the disk could not deliver, and the window offered to begin anew.
TEST_F(ChatDatabaseTest, AReadErrorOfTheDiskIsNoDamage) {
  test::register_faulty_vfs();
  test::arm_fault(0, SQLITE_OK);
  open();
  const ConversationId id = conversation();
  const TurnIds turn = m_db->beginTurn({id, 0, QStringLiteral("q"), {}});
  m_db->finishTurn({turn.answer, QString(90'000, QLatin1Char('s')), MessageState::kComplete, {}, {}, false, {}});
  m_db.reset();
  int faults = 0;
  for (int k = 1; k < 500; ++k) {
    test::arm_read_fault(k);
    try {
      open(test::kFaultyVfs);
      EXPECT_EQ(stored(id, turn.answer).text.size(), 90'000);
    } catch (const Exception& error) {
      EXPECT_EQ(error.error().code, ErrorCode::kStorage) << k << ": " << error.error().reason;
    }
    const bool fired = test::fault_fired();
    test::arm_read_fault(0);
    m_db.reset();
    faults += fired ? 1 : 0;
    if (!fired) break;
  }
  EXPECT_GE(faults, 10);
  EXPECT_NO_THROW(open());
}

TEST_F(ChatDatabaseTest, AFullDiskFailsEveryCallUntilThereIsRoomAgain) {
  test::register_faulty_vfs();
  test::arm_fault(0, SQLITE_OK);
  open(test::kFaultyVfs);
  const ConversationId id = conversation();
  test::arm_fault(1, SQLITE_FULL, 1'000'000);
  for (int attempt = 0; attempt < 3; ++attempt) {
    try {
      m_db->beginTurn({id, 0, QStringLiteral("q"), {}});
      ADD_FAILURE() << "a full disk took a message";
    } catch (const Exception& error) {
      EXPECT_EQ(error.error().code, ErrorCode::kStorageFull);
    }
  }
  test::arm_fault(0, SQLITE_OK);
  EXPECT_NO_THROW(m_db->beginTurn({id, 0, QStringLiteral("q"), {}}));
  EXPECT_EQ(m_db->loadConversation(id).messages.size(), 2);
}

}  // namespace
}  // namespace winnow::app
