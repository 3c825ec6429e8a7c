// Backups: whole, few, made of a database in use; restored beside what was there.
#include "app/chats/chat/backups.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

#include "app/chats/chat/chat_store.h"
#include "app/chats/chat/database_file.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

constexpr qint64 kDayMs = kBackupEveryMs;
constexpr qint64 kNowMs = 1'790'000'000'000;

class BackupsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(m_home.isValid()); }
  ChatFolders folders() const { return {m_home.filePath(QStringLiteral("data")), m_home.filePath(QStringLiteral("cache"))}; }
  QString file() const { return ChatDatabase::databaseFile(folders()); }
  QStringList titles() {
    ChatDatabase db(folders());
    QStringList list;
    for (const Conversation& c : db.listConversations()) list << c.title;
    return list;
  }
  // Every b-tree page but the first loses its header.
  static void damage(const QString& path) {
    QFile f(path);
    ASSERT_TRUE(f.open(QIODevice::ReadWrite));
    for (qint64 page = 4096; page < f.size(); page += 4096) {
      f.seek(page);
      f.write(QByteArray(16, '\x5a'));
    }
  }
  static QByteArray bytes(const QString& path) {
    QFile f(path);
    return f.open(QIODevice::ReadOnly) ? f.readAll() : QByteArray("unreadable");
  }
  QStringList namesInBackups() const { return QDir(folders().data + QStringLiteral("/backups")).entryList(QDir::Files); }

  QTemporaryDir m_home;
};

TEST_F(BackupsTest, OneIsMadeOfADatabaseThatIsBeingWrittenTo) {
  ChatDatabase db(folders());
  db.createConversation(QStringLiteral("first"), {});
  const Backup backup = makeBackup(folders(), kNowMs);
  db.createConversation(QStringLiteral("second"), {});
  EXPECT_EQ(db.listConversations().size(), 2);
  EXPECT_NO_THROW(requireWhole(backup.file));
  ASSERT_EQ(listBackups(folders()).size(), 1);
  EXPECT_EQ(listBackups(folders())[0].file, backup.file);
  EXPECT_EQ(listBackups(folders())[0].madeMs, kNowMs);
  EXPECT_EQ(namesInBackups().size(), 1) << "something was left behind";
}

TEST_F(BackupsTest, OneADayIsMadeAndTwoAreKept) {
  ChatDatabase db(folders());
  EXPECT_TRUE(backupIsDue(folders(), kNowMs));
  for (int day = 0; day < 4; ++day) {
    db.createConversation(QString::number(day), {});
    makeBackup(folders(), kNowMs + day * kDayMs);
    EXPECT_FALSE(backupIsDue(folders(), kNowMs + day * kDayMs + kDayMs - 1));
    EXPECT_TRUE(backupIsDue(folders(), kNowMs + day * kDayMs + kDayMs));
  }
  const QList<Backup> backups = listBackups(folders());
  ASSERT_EQ(backups.size(), 2);
  EXPECT_EQ(backups[0].madeMs, kNowMs + 3 * kDayMs);
  EXPECT_EQ(backups[1].madeMs, kNowMs + 2 * kDayMs);
}

TEST_F(BackupsTest, AClockThatWasWrongStopsThemForNoLongerThanADay) {
  ChatDatabase db(folders());
  makeBackup(folders(), kNowMs + 400 * kDayMs);
  EXPECT_TRUE(backupIsDue(folders(), kNowMs));
  const Backup made = makeBackup(folders(), kNowMs);
  makeBackup(folders(), kNowMs + kDayMs);
  EXPECT_TRUE(QFileInfo::exists(listBackups(folders())[0].file));
  EXPECT_EQ(listBackups(folders()).size(), kBackupsKept);
  EXPECT_TRUE(listBackups(folders()).last().file == made.file || listBackups(folders()).last().madeMs == kNowMs + kDayMs);
}

TEST_F(BackupsTest, ADamagedDatabasePushesNoGoodBackupOut) {
  {
    ChatDatabase db(folders());
    const ConversationId id = db.createConversation(QStringLiteral("safe"), {}).id;
    for (int i = 0; i < 50; ++i) db.beginTurn({id, 0, QString(500, QLatin1Char('q')), {}});
    makeBackup(folders(), kNowMs);
    makeBackup(folders(), kNowMs + kDayMs);
  }
  const QList<Backup> before = listBackups(folders());
  damage(file());
  try {
    makeBackup(folders(), kNowMs + 2 * kDayMs);
    ADD_FAILURE() << "a damaged database was taken for a backup";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kStorageDamaged);
  }
  ASSERT_EQ(listBackups(folders()).size(), 2);
  for (const Backup& backup : before) EXPECT_NO_THROW(requireWhole(backup.file));
  EXPECT_EQ(namesInBackups().size(), 2) << "something was left behind";
}

TEST_F(BackupsTest, ChangedWordsPushNoGoodBackupOutAndOneWithThemCanStillBeRestored) {
  {
    ChatDatabase db(folders());
    db.beginTurn({db.createConversation(QStringLiteral("safe"), {}).id, 0, QStringLiteral("the gate is 4711"), {}});
  }
  const QByteArray flipped = bytes(file()).replace("gate is 4711", "gate is 4712");
  QFile f(file());
  ASSERT_TRUE(f.open(QIODevice::WriteOnly | QIODevice::Truncate));
  f.write(flipped);
  f.close();
  try {
    makeBackup(folders(), kNowMs);
    ADD_FAILURE() << "changed words were taken for a backup";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kStorageDamaged);
  }
  EXPECT_TRUE(namesInBackups().isEmpty());
  const QString backup = folders().data + QStringLiteral("/backups/older.db");
  ASSERT_TRUE(QFile::copy(file(), backup));
  restoreBackup(folders(), backup);
  EXPECT_EQ(titles(), QStringList{QStringLiteral("safe")}) << "one changed word does not make the rest worthless";
}

TEST_F(BackupsTest, RestoringKeepsWhatWasThere) {
  {
    ChatDatabase db(folders());
    db.createConversation(QStringLiteral("safe"), {});
  }
  const Backup backup = makeBackup(folders(), kNowMs);
  {
    QFile f(file());
    ASSERT_TRUE(f.open(QIODevice::WriteOnly | QIODevice::Truncate));
    f.write("noise");
  }
  const QString aside = restoreBackup(folders(), backup.file);
  EXPECT_EQ(bytes(aside), QByteArray("noise"));
  EXPECT_EQ(titles(), QStringList{QStringLiteral("safe")});
  EXPECT_TRUE(QFileInfo::exists(backup.file)) << "the backup is used up";
}

TEST_F(BackupsTest, ADamagedBackupIsNotPutInPlaceOfAnything) {
  {
    ChatDatabase db(folders());
    const ConversationId id = db.createConversation(QStringLiteral("now"), {}).id;
    for (int i = 0; i < 50; ++i) db.beginTurn({id, 0, QString(500, QLatin1Char('q')), {}});
  }
  const Backup backup = makeBackup(folders(), kNowMs);
  damage(backup.file);
  const QByteArray before = bytes(file());
  EXPECT_THROW(restoreBackup(folders(), backup.file), Exception);
  EXPECT_EQ(bytes(file()), before);
  EXPECT_FALSE(QFileInfo::exists(file() + QStringLiteral(".restoring")));
}

TEST_F(BackupsTest, OneThatIsBeingMadeEndsWhenAsked) {
  ChatDatabase db(folders());
  const ConversationId id = db.createConversation({}, {}).id;
  for (int i = 0; i < 300; ++i) db.beginTurn({id, 0, QString(2000, QLatin1Char('q')), {}});
  InterruptSource source;
  source.request_cancel();
  EXPECT_THROW(makeBackup(folders(), kNowMs, source.token()), Interrupted);
  EXPECT_TRUE(namesInBackups().isEmpty());
}

TEST_F(BackupsTest, TheStoreMakesOneByItself) {
  ChatStore store(folders(), BackupTimes{1, 1});
  int damaged = 0;
  QObject::connect(&store, &ChatStore::damaged, [&] { ++damaged; });
  store.open();
  ASSERT_TRUE(test::waitUntil([&] { return store.isOpen() && listBackups(folders()).size() == 1; }));
  EXPECT_EQ(damaged, 0);
}

TEST_F(BackupsTest, OneThatComesUponDamageTellsItWithWhatCouldBeRestored) {
  {
    ChatDatabase db(folders());
    for (int i = 0; i < 100; ++i) db.createConversation(QString(300, QLatin1Char('t')), {});
    makeBackup(folders(), kNowMs - 900 * kDayMs);
  }
  ChatStore store(folders(), BackupTimes{1000, 1000});
  QList<StorageFailure> damaged;
  QObject::connect(&store, &ChatStore::damaged, [&](const StorageFailure& failure) { damaged << failure; });
  store.open();
  ASSERT_TRUE(test::waitUntil([&] { return store.isOpen(); }));
  damage(file());
  ASSERT_TRUE(test::waitUntil([&] { return !damaged.isEmpty(); }));
  EXPECT_EQ(damaged[0].error.code, ErrorCode::kStorageDamaged);
  EXPECT_EQ(damaged[0].backups.size(), 1);
}

}  // namespace
}  // namespace winnow::app
