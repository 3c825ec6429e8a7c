// ChatStore: answers come as signals in order, streams are coalesced, closing writes what is pending.
#include "app/chats/chat/chat_store.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

using test::waitUntil;

class ChatStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(m_home.isValid());
    make();
  }
  ChatFolders folders() const { return {m_home.filePath(QStringLiteral("data")), m_home.filePath(QStringLiteral("cache"))}; }

  // Has the value of the last such signal in `into`.
  template <class Value>
  void keep(void (ChatStore::*signal)(RequestToken, const Value&), Value& into) {
    QObject::connect(m_store.get(), signal, [this, &into](RequestToken token, const Value& value) {
      m_answers << token;
      into = value;
    });
  }
  void make() {
    m_answers.clear();
    m_store = std::make_unique<ChatStore>(folders());
    ChatStore* store = m_store.get();
    keep(&ChatStore::opened, m_report);
    QObject::connect(store, &ChatStore::openFailed, [this](RequestToken t, const StorageFailure& f) {
      m_answers << t;
      m_errors << t;
      m_error = f.error;
      m_failure = f;
    });
    keep(&ChatStore::conversationCreated, m_conversation);
    keep(&ChatStore::conversationChanged, m_conversation);
    QObject::connect(store, &ChatStore::conversationDeleted, [this](RequestToken t, ConversationId) { m_answers << t; });
    QObject::connect(store, &ChatStore::conversationRestored, [this](RequestToken t, const Conversation&) { m_answers << t; });
    keep(&ChatStore::conversationsListed, m_list);
    keep(&ChatStore::deletedListed, m_list);
    keep(&ChatStore::conversationLoaded, m_loaded);
    keep(&ChatStore::searchFinished, m_hits);
    keep(&ChatStore::turnCommitted, m_ids);
    QObject::connect(store, &ChatStore::turnFinished, [this](RequestToken t, MessageId) { m_answers << t; });
    QObject::connect(store, &ChatStore::saved, [this](RequestToken t) { m_answers << t; });
    QObject::connect(store, &ChatStore::streamFlushed, [this](MessageId, qint64 length) { m_flushed << length; });
    QObject::connect(store, &ChatStore::failed, [this](RequestToken t, const Error& e) {
      m_answers << t;
      m_errors << t;
      m_error = e;
    });
  }

  bool waitFor(RequestToken token) {
    return waitUntil([&] { return m_answers.contains(token); });
  }
  void openWithConversation() {
    m_store->open();
    ASSERT_TRUE(waitFor(m_store->createConversation(QStringLiteral("chat"), {})));
    ASSERT_TRUE(m_errors.isEmpty());
  }
  void begin() { ASSERT_TRUE(waitFor(m_store->beginTurn({m_conversation.id, 0, QStringLiteral("q"), {}}))); }
  StoredMessage answerOnDisk() {
    ChatDatabase db(folders());
    for (const StoredMessage& m : db.loadConversation(m_ids.conversation).messages)
      if (m.id == m_ids.answer) return m;
    return {};
  }

  QTemporaryDir m_home;
  std::unique_ptr<ChatStore> m_store;
  QList<RequestToken> m_answers, m_errors;
  QList<qint64> m_flushed;
  StoreOpened m_report;
  StorageFailure m_failure;
  Conversation m_conversation;
  QList<Conversation> m_list;
  LoadedConversation m_loaded;
  QList<SearchHit> m_hits;
  TurnIds m_ids;
  Error m_error;
};

// The program ended before it heard the new chat's number: what was typed is there all the same.
TEST_F(ChatStoreTest, AChatMadeWithADraftHasItAtOnce) {
  ASSERT_TRUE(waitFor(m_store->open()));
  m_store->createConversation({}, {}, {QStringLiteral("not sent yet"), {}});
  m_store->close();
  make();
  ASSERT_TRUE(waitFor(m_store->open()));
  ASSERT_EQ(m_report.conversations.size(), 1);
  ASSERT_TRUE(waitFor(m_store->loadConversation(m_report.conversations[0].id)));
  EXPECT_EQ(m_loaded.draft.text, QStringLiteral("not sent yet"));
}

TEST_F(ChatStoreTest, AnswersEveryCallOnceAndInOrder) {
  QList<RequestToken> asked;
  asked << m_store->open() << m_store->createConversation(QStringLiteral("a"), {})
        << m_store->setSetting(QStringLiteral("k"), QStringLiteral("v")) << m_store->renameConversation(1, QStringLiteral("b"))
        << m_store->renameConversation(77, QStringLiteral("nobody")) << m_store->deleteConversation(1) << m_store->listDeleted()
        << m_store->restoreConversation(1) << m_store->search(QStringLiteral("b")) << m_store->saveDraft(1, {QStringLiteral("d"), {}})
        << m_store->saveViewState(1, {}) << m_store->loadConversation(1) << m_store->listConversations();
  EXPECT_TRUE(m_answers.isEmpty());  // nothing is answered inside a call
  ASSERT_TRUE(waitFor(asked.back()));
  EXPECT_EQ(m_answers, asked);
  EXPECT_EQ(m_errors, QList<RequestToken>{asked[4]});
  EXPECT_EQ(m_error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(m_loaded.draft.text, QStringLiteral("d"));
  EXPECT_EQ(m_hits.size(), 1);
  ASSERT_EQ(m_list.size(), 1);
  EXPECT_EQ(m_list[0].title, QStringLiteral("b"));
}

TEST_F(ChatStoreTest, AnAcknowledgedTurnIsOnTheDisk) {
  openWithConversation();
  begin();
  EXPECT_NE(m_ids.question, 0);
  m_store->close();
  EXPECT_EQ(answerOnDisk().state, MessageState::kAbandoned);  // it was streaming
}

TEST_F(ChatStoreTest, StreamingIsCoalescedAndReachesTheDiskWhileItRuns) {
  openWithConversation();
  begin();
  QElapsedTimer elapsed;
  elapsed.start();
  QString text;
  ASSERT_TRUE(waitUntil([&] {
    text += QLatin1Char('x');
    m_store->appendStreaming(m_ids.answer, {text});
    return m_flushed.size() >= 3;
  }));
  EXPECT_LE(m_flushed.size(), elapsed.elapsed() / 250 + 1);
  EXPECT_GT(text.size(), m_flushed.size());
  EXPECT_GT(m_flushed[0], 0);
}

TEST_F(ChatStoreTest, ClosingWritesThePendingText) {
  openWithConversation();
  begin();
  m_store->appendStreaming(m_ids.answer, {QStringLiteral("last words")});
  m_store.reset();
  EXPECT_EQ(answerOnDisk().text, QStringLiteral("last words"));
}

TEST_F(ChatStoreTest, AFinishedAnswerIsNotOverwrittenByPendingText) {
  openWithConversation();
  begin();
  m_store->appendStreaming(m_ids.answer, {QStringLiteral("hal")});
  const RequestToken token =
      m_store->finishTurn({m_ids.answer, QStringLiteral("half and whole"), MessageState::kComplete, {}, {}, false, {}});
  ASSERT_TRUE(waitFor(token));
  m_store->appendStreaming(m_ids.answer, {QStringLiteral("late")});
  m_store->close();
  EXPECT_EQ(answerOnDisk().text, QStringLiteral("half and whole"));
  EXPECT_EQ(answerOnDisk().state, MessageState::kComplete);
}

TEST_F(ChatStoreTest, AfterClosingCallsFail) {
  openWithConversation();
  m_store->close();
  EXPECT_FALSE(m_store->isOpen());
  const RequestToken token = m_store->listConversations();
  ASSERT_TRUE(waitFor(token));
  EXPECT_EQ(m_errors, QList<RequestToken>{token});
  EXPECT_EQ(m_error.code, ErrorCode::kStorage);
}

TEST_F(ChatStoreTest, AnUnusableDatabaseIsReportedAndSetAsideOnlyWhenAsked) {
  ASSERT_TRUE(QDir().mkpath(folders().data));
  QFile file(ChatDatabase::databaseFile(folders()));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("garbage");
  file.close();
  const RequestToken first = m_store->open();
  const RequestToken call = m_store->createConversation({}, {});
  ASSERT_TRUE(waitFor(call));
  EXPECT_EQ(m_errors, (QList<RequestToken>{first, call}));
  EXPECT_FALSE(m_store->isOpen());
  EXPECT_EQ(file.size(), 7);
  const RequestToken second = m_store->setAsideAndOpen();
  ASSERT_TRUE(waitFor(second));
  EXPECT_TRUE(m_store->isOpen());
  EXPECT_TRUE(QFile::exists(file.fileName() + QStringLiteral(".aside-1")));
  EXPECT_EQ(m_report.setAside, file.fileName() + QStringLiteral(".aside-1"));
}

TEST_F(ChatStoreTest, WhileItIsNotOpenEveryCallSaysWhy) {
  ASSERT_TRUE(QDir().mkpath(folders().data));
  QFile file(ChatDatabase::databaseFile(folders()));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("garbage");
  file.close();
  ASSERT_TRUE(waitFor(m_store->open()));
  EXPECT_EQ(m_failure.error.code, ErrorCode::kStorageDamaged);
  ASSERT_TRUE(m_store->openError().has_value());
  m_error = {};
  ASSERT_TRUE(waitFor(m_store->createConversation({}, {})));
  EXPECT_EQ(m_error.code, ErrorCode::kStorageDamaged);
  EXPECT_EQ(m_error.subject, QFile::encodeName(file.fileName()).toStdString());
  ASSERT_TRUE(waitFor(m_store->openInMemory()));
  EXPECT_FALSE(m_store->openError().has_value());
  EXPECT_FALSE(m_report.saves);
  ASSERT_TRUE(waitFor(m_store->createConversation(QStringLiteral("kept for now"), {})));
  EXPECT_EQ(m_conversation.title, QStringLiteral("kept for now"));
  EXPECT_EQ(file.size(), 7);
  EXPECT_EQ(QDir(folders().data).entryList(QDir::Files).size(), 2) << "a lock and the garbage";
}

TEST_F(ChatStoreTest, ABackupTakesThePlaceOfADamagedDatabase) {
  openWithConversation();
  m_store->close();
  makeBackup(folders(), 1'790'000'000'000);
  QFile file(ChatDatabase::databaseFile(folders()));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
  file.write("garbage");
  file.close();
  make();
  ASSERT_TRUE(waitFor(m_store->open()));
  ASSERT_EQ(m_failure.backups.size(), 1);
  ASSERT_TRUE(waitFor(m_store->setAsideAndOpen(m_failure.backups[0].file)));
  ASSERT_EQ(m_report.conversations.size(), 1);
  EXPECT_EQ(m_report.conversations[0].title, QStringLiteral("chat"));
  EXPECT_EQ(QFileInfo(m_report.setAside).size(), 7);
}

TEST_F(ChatStoreTest, ReopensWithSettingsConversationsAndRecoveredAnswers) {
  openWithConversation();
  m_store->setSetting(QStringLiteral("theme"), QStringLiteral("dark"));
  begin();
  m_store->close();
  make();
  ASSERT_TRUE(waitFor(m_store->open()));
  EXPECT_EQ(m_report.settings.value(QStringLiteral("theme")), QStringLiteral("dark"));
  EXPECT_EQ(m_report.conversations.size(), 1);
  EXPECT_EQ(m_report.recoveredAnswers, 1);
}

TEST_F(ChatStoreTest, MayBeDestroyedInAnAnswer) {
  QObject::connect(m_store.get(), &ChatStore::opened, [this](RequestToken, const StoreOpened&) { m_store.reset(); });
  m_store->open();
  m_store->listConversations();
  EXPECT_TRUE(waitUntil([&] { return m_store == nullptr; }));
}

TEST_F(ChatStoreTest, KeptMapsAreLoadedOnWish) {
  openWithConversation();
  ASSERT_TRUE(waitFor(m_store->beginTurn({m_conversation.id, 0, QStringLiteral("what?"), {}})));
  CacheReport report;
  report.tokens.resize(3);
  report.kept = {{{0, 2}}};
  const auto map = std::make_shared<const KeptMap>(KeptMap::fromReport(report));
  FinishedTurn turn{.answer = m_ids.answer, .keptMap = map};
  m_store->finishTurn(turn);
  SharedKeptMap loaded;
  MessageId of = 0;
  QObject::connect(m_store.get(), &ChatStore::keptMapLoaded, [&](RequestToken t, MessageId answer, const SharedKeptMap& found) {
    m_answers << t;
    of = answer;
    loaded = found;
  });
  ASSERT_TRUE(waitFor(m_store->loadKeptMap(m_ids.answer)));
  EXPECT_EQ(of, m_ids.answer);
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(*loaded, *map);
  ASSERT_TRUE(waitFor(m_store->loadKeptMap(m_ids.question)));
  EXPECT_EQ(loaded, nullptr);
}

}  // namespace
}  // namespace winnow::app
