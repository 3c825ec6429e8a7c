// Comparisons and checks of answers in the database: what was acknowledged comes back, rules hold, they go with their conversation.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <QFile>
#include <QTemporaryDir>

#include "app/chats/chat/chat_database.h"
#include "app/chats/chat/database_file.h"
#include "app/chats/chat/run_json.h"
#include "app/chats/chat/sqlite_connection.h"
#include "tests/support/faulty_vfs.h"

namespace winnow::app {
namespace {

Agreement someAgreement() {
  return {.tokens = 8,
          .same = 7,
          .top1 = 0.875,
          .mean_kl = 0.0123,
          .first_diverging_word = 3,
          .differences = {{3, "blue", "red", 0.4, 0.1, 0.75}, {7, "", "and", 0.5, 0.25, 0.5}}};
}

Run someRun(const char* method, double retention) {
  Run run;
  run.modelName = QStringLiteral("demo");
  run.modelFolder = QStringLiteral("/models/d\u00e9mo");
  run.device = QStringLiteral("cpu");
  run.recipe.name = "mine \xc3\xa9";
  run.recipe.spec.method = method;
  run.recipe.spec.retention = retention;
  run.recipe.spec.options = {{"recent_share", "0.25"}};
  run.figures.method = method;
  run.figures.retention = retention;
  run.figures.seed = (std::uint64_t{1} << 63) + 5;
  run.figures.tokens = {700, 576, 124, 33};
  run.figures.kv_bytes = {1000, 200, 260, 1100, 300, 44};
  run.figures.timings_ms = {1, 2, 3, 4, 5, 6, 7, 8.5};
  run.figures.tokens_per_s = 41.25;
  run.figures.achieved_retention = 0.26;
  run.figures.notes = {CompressionNote::kRaisedToFloor};
  run.figures.layers = {{120, 118.5, 60, 58.5, {118, 119}, 4096, {{"sparsity", 0.75}}, {}, {50, 40.5, 12}},
                        {80, 80, 20, 60, {80, 80}, 2048, {}, {}, {}}};
  return run;
}

Comparison someComparison(MessageId question) {
  Comparison comparison;
  comparison.question = question;
  comparison.order = ColumnOrder::kInterleaved;
  comparison.totals = {2, 123456, 234567, true};
  comparison.failure = QStringLiteral("9: : no memory");
  comparison.failureCode = ErrorCode::kOutOfMemory;
  comparison.columns.resize(4);
  comparison.columns[0] = {ColumnState::kAnswered, true, QStringLiteral("The star is red."), someRun("full", 1.0), true, 0};
  comparison.columns[1] = {ColumnState::kStopped, false, QStringLiteral("The star \u2b50"), someRun("fastv", 0.5), true, 0};
  comparison.columns[1].run.agreement = someAgreement();
  comparison.columns[2].state = ColumnState::kFailed;
  comparison.columns[2].run.recipe = someRun("snapkv", 0.1).recipe;
  comparison.columns[3].run.recipe = someRun("meda", 0.1).recipe;
  return comparison;
}

void expectSame(const Run& a, const Run& b) {
  EXPECT_EQ(a.modelName, b.modelName);
  EXPECT_EQ(a.modelFolder, b.modelFolder);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.recipe, b.recipe);
  EXPECT_EQ(runToJson(a), runToJson(b)) << "figures, layers or agreement differ";
  EXPECT_EQ(a.figures.seed, b.figures.seed);
  ASSERT_EQ(a.figures.layers.size(), b.figures.layers.size());
  for (std::size_t i = 0; i < a.figures.layers.size(); ++i) {
    EXPECT_EQ(a.figures.layers[i].kept_per_head, b.figures.layers[i].kept_per_head);
    EXPECT_EQ(a.figures.layers[i].why, b.figures.layers[i].why);
    EXPECT_EQ(a.figures.layers[i].end, b.figures.layers[i].end);
    EXPECT_EQ(a.figures.layers[i].bytes, b.figures.layers[i].bytes);
  }
}

class ComparisonStoreTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(m_home.isValid()); }
  ChatFolders folders() const { return {m_home.filePath(QStringLiteral("data")), m_home.filePath(QStringLiteral("cache"))}; }
  void open(const QByteArray& vfs = {}) {
    m_db.reset();
    m_db = std::make_unique<ChatDatabase>(folders(), vfs);
  }
  TurnIds question(const QString& text = QStringLiteral("What color is the star?")) {
    if (m_conversation == 0) m_conversation = m_db->createConversation(QStringLiteral("chat"), {}).id;
    return m_db->beginQuestion({m_conversation, 0, text, {}});
  }

  QTemporaryDir m_home;
  ConversationId m_conversation = 0;
  std::unique_ptr<ChatDatabase> m_db;
};

TEST_F(ComparisonStoreTest, AQuestionWithoutAnAnswerIsTheEndOfTheBranchAndClearsTheDraft) {
  open();
  m_conversation = m_db->createConversation({}, {}).id;
  m_db->saveDraft(m_conversation, {QStringLiteral("What color"), {}});
  const TurnIds ids = question();
  EXPECT_EQ(ids.answer, 0);
  const LoadedConversation loaded = m_db->loadConversation(m_conversation);
  ASSERT_EQ(loaded.messages.size(), 1);
  EXPECT_EQ(loaded.conversation.activeLeaf, ids.question);
  EXPECT_EQ(loaded.conversation.messageCount, 1);
  EXPECT_EQ(loaded.conversation.preview, QStringLiteral("What color is the star?"));
  EXPECT_TRUE(loaded.draft.text.isEmpty());
  EXPECT_EQ(m_db->search(QStringLiteral("color")).size(), 1);
  EXPECT_THROW(m_db->beginQuestion({m_conversation, 0, {}, {}}), Exception);
}

TEST_F(ComparisonStoreTest, AComparisonComesBackAsItWasAfterReopening) {
  open();
  const TurnIds ids = question();
  const Comparison saved = m_db->saveComparison(someComparison(ids.question));
  EXPECT_NE(saved.id, 0);
  open();
  const QList<Comparison> all = m_db->loadConversation(m_conversation).comparisons;
  ASSERT_EQ(all.size(), 1);
  const Comparison& back = all[0];
  EXPECT_EQ(back.id, saved.id);
  EXPECT_EQ(back.question, ids.question);
  EXPECT_EQ(back.createdMs, saved.createdMs);
  EXPECT_EQ(back.order, ColumnOrder::kInterleaved);
  EXPECT_EQ(back.totals.prefills, 2);
  EXPECT_EQ(back.totals.shared_prefix_bytes, 123456);
  EXPECT_EQ(back.totals.allocated_bytes, 234567);
  EXPECT_TRUE(back.totals.stopped);
  EXPECT_EQ(back.failure, QStringLiteral("9: : no memory"));
  EXPECT_EQ(back.failureCode, ErrorCode::kOutOfMemory);
  ASSERT_EQ(back.columns.size(), saved.columns.size());
  for (std::size_t i = 0; i < back.columns.size(); ++i) {
    EXPECT_EQ(back.columns[i].state, saved.columns[i].state);
    EXPECT_EQ(back.columns[i].sharesPrefill, saved.columns[i].sharesPrefill);
    EXPECT_EQ(back.columns[i].text, saved.columns[i].text);
    EXPECT_EQ(back.columns[i].hasFigures, saved.columns[i].hasFigures);
    EXPECT_EQ(back.columns[i].usedAs, 0);
    expectSame(back.columns[i].run, saved.columns[i].run);
  }
  ASSERT_TRUE(back.columns[1].run.agreement.has_value());
  EXPECT_EQ(back.columns[1].run.agreement->differences[0].full_text, "red");
  EXPECT_EQ(back.columns[1].run.agreement->first_diverging_word, 3);
  EXPECT_FALSE(back.columns[0].run.agreement.has_value());
}

TEST_F(ComparisonStoreTest, UsedAnswersAreBranchesWithTheirFiguresAndAreMadeOnce) {
  open();
  const TurnIds ids = question();
  const Comparison saved = m_db->saveComparison(someComparison(ids.question));
  const TurnIds first = m_db->useAnswer(saved.id, 0);
  const TurnIds second = m_db->useAnswer(saved.id, 1);
  EXPECT_NE(first.answer, second.answer);
  LoadedConversation loaded = m_db->loadConversation(m_conversation);
  ASSERT_EQ(loaded.messages.size(), 3);
  EXPECT_EQ(loaded.conversation.activeLeaf, second.answer);
  EXPECT_EQ(siblingsOf(loaded.messages, first.answer).size(), 2);
  EXPECT_EQ(loaded.messages[1].text, QStringLiteral("The star is red."));
  EXPECT_EQ(loaded.messages[1].state, MessageState::kComplete);
  EXPECT_EQ(loaded.messages[2].state, MessageState::kInterrupted);
  ASSERT_TRUE(loaded.messages[2].hasRun);
  expectSame(loaded.messages[2].run, saved.columns[1].run);
  EXPECT_EQ(m_db->search(QStringLiteral("red")).size(), 1);
  // Asked for again it is shown again, with what was said after it.
  const TurnIds more = m_db->beginTurn({m_conversation, first.answer, QStringLiteral("and then?"), {}});
  m_db->finishTurn({more.answer, QStringLiteral("blue"), MessageState::kComplete, {}, {}, false, {}});
  m_db->setActiveLeaf(m_conversation, second.answer);
  EXPECT_EQ(m_db->useAnswer(saved.id, 0).answer, first.answer);
  loaded = m_db->loadConversation(m_conversation);
  EXPECT_EQ(loaded.messages.size(), 5);
  EXPECT_EQ(loaded.conversation.activeLeaf, more.answer);
  EXPECT_EQ(loaded.comparisons[0].columns[0].usedAs, first.answer);
}

TEST_F(ComparisonStoreTest, WhatWasNotWrittenCannotBeUsed) {
  open();
  const TurnIds ids = question();
  const Comparison saved = m_db->saveComparison(someComparison(ids.question));
  for (const auto& [id, place] : {std::pair<qint64, int>{saved.id, 2}, {saved.id, 3}, {saved.id, 4}, {saved.id, -1}, {saved.id + 1, 0}}) {
    EXPECT_THROW(m_db->useAnswer(id, place), Exception) << place;
  }
  EXPECT_EQ(m_db->loadConversation(m_conversation).messages.size(), 1);
  EXPECT_THROW(m_db->saveComparison(someComparison(ids.question + 77)), Exception);
}

TEST_F(ComparisonStoreTest, AnAgreementIsKeptWithTheRun) {
  open();
  m_conversation = m_db->createConversation({}, {}).id;
  const TurnIds ids = m_db->beginTurn({m_conversation, 0, QStringLiteral("q"), {}});
  m_db->finishTurn({ids.answer, QStringLiteral("a"), MessageState::kComplete, {}, {}, true, someRun("vl-cache", 0.2)});
  const auto agreement = [&] { return m_db->loadConversation(m_conversation).messages[1].run.agreement; };
  EXPECT_FALSE(agreement().has_value());
  m_db->saveAgreement(ids.answer, someAgreement());
  open();
  ASSERT_TRUE(agreement().has_value());
  EXPECT_EQ(agreementToJson(agreement()), agreementToJson(someAgreement()));
  EXPECT_EQ(agreement()->top1, 0.875);
  EXPECT_EQ(agreement()->mean_kl, 0.0123);
  EXPECT_THROW(m_db->saveAgreement(ids.question, someAgreement()), Exception) << "a question has no run";
}

// After a restart, versions before the field `same` judged another cache than the answer's.
TEST_F(ComparisonStoreTest, AVerdictOfAnOlderVersionIsNotTold) {
  open();
  m_conversation = m_db->createConversation({}, {}).id;
  const TurnIds ids = m_db->beginTurn({m_conversation, 0, QStringLiteral("q"), {}});
  m_db->finishTurn({ids.answer, QStringLiteral("a"), MessageState::kComplete, {}, {}, true, someRun("snapkv", 0.05)});
  Agreement old = someAgreement();
  old.same.reset();
  m_db->saveAgreement(ids.answer, old);
  open();
  EXPECT_FALSE(m_db->loadConversation(m_conversation).messages[1].run.agreement.has_value());
}

TEST_F(ComparisonStoreTest, WordsThatAreNoWholeCharactersAreKeptReadable) {
  Agreement broken = someAgreement();
  broken.differences[0].full_text = "\xe6\xbc";
  const auto back = agreementFromJson(agreementToJson(broken));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->differences.size(), 2u);
  EXPECT_FALSE(agreementFromJson("{").has_value());
  EXPECT_FALSE(agreementFromJson({}).has_value());
}

TEST_F(ComparisonStoreTest, DeletingTheConversationDeletesItsComparisons) {
  open();
  const TurnIds ids = question();
  const Comparison saved = m_db->saveComparison(someComparison(ids.question));
  m_db->useAnswer(saved.id, 0);
  m_db->deleteConversation(m_conversation);
  EXPECT_EQ(m_db->loadConversation(m_conversation).comparisons.size(), 1) << "it can be restored";
  EXPECT_EQ(m_db->purgeDeletedBefore(std::numeric_limits<qint64>::max()).chats, 1);
  requireWhole(ChatDatabase::databaseFile(folders()));
  m_db.reset();
  SqliteConnection raw(ChatDatabase::databaseFile(folders()), {});
  EXPECT_EQ(raw.pragmaInteger("SELECT count(*) FROM comparison"), 0);
  EXPECT_EQ(raw.pragmaInteger("SELECT count(*) FROM comparison_column"), 0);
}

TEST_F(ComparisonStoreTest, KeptMapsOfColumnsComeBackAndFollowTheAnswerThatIsUsed) {
  open();
  const TurnIds ids = question();
  Comparison comparison = someComparison(ids.question);
  CacheReport report;
  report.tokens.resize(5);
  report.kept = {{{0, 2, 4}}, {{1}}};
  const auto map = std::make_shared<const KeptMap>(KeptMap::fromReport(report));
  comparison.columns[0].keptMap = map;
  const Comparison saved = m_db->saveComparison(comparison);
  open();
  const std::vector<ComparedAnswer> columns = m_db->loadConversation(m_conversation).comparisons.at(0).columns;
  EXPECT_TRUE(columns[0].hasKeptMap);
  EXPECT_FALSE(columns[1].hasKeptMap);
  ASSERT_NE(m_db->keptMap(AnswerOfComparison{saved.id, 0}), nullptr);
  EXPECT_EQ(*m_db->keptMap(AnswerOfComparison{saved.id, 0}), *map);
  EXPECT_EQ(m_db->keptMap(AnswerOfComparison{saved.id, 1}), nullptr);
  const TurnIds used = m_db->useAnswer(saved.id, 0);
  ASSERT_NE(m_db->keptMap(used.answer), nullptr);
  EXPECT_EQ(*m_db->keptMap(used.answer), *map);
  EXPECT_EQ(m_db->keptMap(m_db->useAnswer(saved.id, 1).answer), nullptr);
  m_db->deleteConversation(m_conversation);
  m_db->purgeDeletedBefore(std::numeric_limits<qint64>::max());
  EXPECT_EQ(m_db->keptMap(AnswerOfComparison{saved.id, 0}), nullptr);
}

TEST_F(ComparisonStoreTest, ADatabaseOfTheVersionBeforeOpensWithItsAnswersUnchecked) {
  open();
  m_conversation = m_db->createConversation({}, {}).id;
  const TurnIds ids = m_db->beginTurn({m_conversation, 0, QStringLiteral("q"), {}});
  m_db->finishTurn({ids.answer, QStringLiteral("a"), MessageState::kComplete, {}, {}, true, someRun("vl-cache", 0.2)});
  m_db.reset();
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(QFile::encodeName(ChatDatabase::databaseFile(folders())).constData(), &raw), SQLITE_OK);
  const char* back =
      "DROP TABLE shelf_file; DROP TABLE file_line_fts; DROP TABLE file_line; DROP TABLE file_name_fts; DROP INDEX attachment_by_content; "
      "DROP TABLE comparison_kept_map; DROP TABLE kept_map; DROP TABLE comparison_column; DROP TABLE "
      "comparison; ALTER TABLE run DROP "
      "COLUMN agreement_json; "
      "DROP TRIGGER message_written; DROP TRIGGER message_rewritten; ALTER TABLE message DROP COLUMN digest; "
      "ALTER TABLE message DROP COLUMN thought; "
      "ALTER TABLE run DROP COLUMN makers_json; ALTER TABLE run DROP COLUMN has_figures; "
      "ALTER TABLE attachment DROP COLUMN words; ALTER TABLE attachment DROP COLUMN most_tokens; "
      "ALTER TABLE attachment DROP COLUMN subtitles; ALTER TABLE attachment DROP COLUMN encoding; "
      "ALTER TABLE attachment DROP COLUMN detail; ALTER TABLE attachment DROP COLUMN plan_taken; "
      "ALTER TABLE attachment DROP COLUMN plan_set_frames; "
      "ALTER TABLE attachment DROP COLUMN first_page; ALTER TABLE attachment DROP COLUMN last_page; "
      "ALTER TABLE attachment DROP COLUMN pins_json; ALTER TABLE conversation DROP COLUMN later_questions; "
      "ALTER TABLE conversation DROP COLUMN sampling_json; PRAGMA user_version = 4;";
  ASSERT_EQ(sqlite3_exec(raw, back, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(raw);
  sqlite3_close(raw);
  open();
  const LoadedConversation loaded = m_db->loadConversation(m_conversation);
  ASSERT_EQ(loaded.messages.size(), 2);
  EXPECT_TRUE(loaded.messages[1].hasRun);
  EXPECT_FALSE(loaded.messages[1].run.agreement.has_value());
  EXPECT_TRUE(loaded.comparisons.isEmpty());
  m_db->saveAgreement(ids.answer, someAgreement());
  EXPECT_EQ(m_db->saveComparison(someComparison(ids.question)).columns.size(), 4u);
}

TEST_F(ComparisonStoreTest, AFaultWhileSavingLeavesNoHalfOfIt) {
  test::register_faulty_vfs();
  test::arm_fault(0, SQLITE_OK);
  open(test::kFaultyVfs);
  const TurnIds ids = question();
  int faults = 0;
  for (int k = 1; k < 100; ++k) {
    const qsizetype before = m_db->loadConversation(m_conversation).comparisons.size();
    test::arm_fault(k, SQLITE_FULL);
    bool failed = false;
    try {
      m_db->saveComparison(someComparison(ids.question));
    } catch (const Exception& error) {
      failed = true;
      EXPECT_TRUE(is_storage(error.error().code));
    }
    const bool fired = test::fault_fired();
    test::arm_fault(0, SQLITE_OK);
    const QList<Comparison> after = m_db->loadConversation(m_conversation).comparisons;
    EXPECT_EQ(after.size(), before + (failed ? 0 : 1)) << "k=" << k;
    for (const Comparison& comparison : after) EXPECT_EQ(comparison.columns.size(), 4u) << "k=" << k;
    faults += fired ? 1 : 0;
    if (!fired) break;
  }
  EXPECT_GE(faults, 2);
}

}  // namespace
}  // namespace winnow::app
