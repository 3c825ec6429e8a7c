// Two starts of the real program on one profile: the second hands over and ends, whatever the first one does meanwhile.
#include <gtest/gtest.h>
#include <signal.h>

#include <QFile>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>
#include <memory>
#include <vector>

#include "app/chats/chat/chat_database.h"
#include "app/chats/chat/sqlite_connection.h"
#include "tests/support/source_folder.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

class SecondStartTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(m_home.isValid()); }
  void TearDown() override {
    for (const auto& process : m_processes) {
      if (process->state() == QProcess::NotRunning) continue;
      ::kill(static_cast<pid_t>(process->processId()), SIGCONT);
      process->kill();
      process->waitForFinished();
    }
  }
  ChatFolders folders() const { return {m_home.filePath(QStringLiteral("data")), m_home.filePath(QStringLiteral("cache"))}; }
  QString socketFile() const { return m_home.filePath(QStringLiteral("data/winnow.socket")); }

  QProcess& start(const QStringList& arguments, const QString& workingFolder = {}) {
    auto process = std::make_unique<QProcess>();
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("WINNOW_HOME"), m_home.path());
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
    environment.insert(QStringLiteral("WINNOW_RESOURCE_DIR"), m_home.filePath(QStringLiteral("no-resources")));  // no model to load
    process->setProcessEnvironment(environment);
    if (!workingFolder.isEmpty()) process->setWorkingDirectory(workingFolder);
    process->setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process->start(QStringLiteral(WINNOW_PROGRAM), arguments);
    m_processes.push_back(std::move(process));
    EXPECT_TRUE(m_processes.back()->waitForStarted());
    return *m_processes.back();
  }
  static bool ends(QProcess& process) {
    return test::waitUntil([&] { return process.state() == QProcess::NotRunning; });
  }
  // Attachments of drafts, seen from outside while the program runs: none before it has made its tables. It hears a second start sooner.
  qint64 drafts() const {
    SqliteConnection db(ChatDatabase::databaseFile(folders()), {});
    db.leaveUntouched();
    if (db.pragmaInteger("SELECT count(*) FROM sqlite_master WHERE name = 'attachment'") == 0) return 0;
    return db.pragmaInteger("SELECT count(*) FROM attachment WHERE message_id IS NULL");
  }
  // The paths attached to what is being written in the newest chat.
  QList<QByteArray> attached() {
    QList<QByteArray> paths;
    ChatDatabase db(folders());
    const QList<Conversation> chats = db.listConversations();
    if (!chats.isEmpty()) {
      for (const Attachment& attachment : db.loadConversation(chats.first().id).draft.attachments) paths << attachment.path;
    }
    return paths;
  }

  QTemporaryDir m_home;
  std::vector<std::unique_ptr<QProcess>> m_processes;
};

TEST_F(SecondStartTest, HandsItsFileToTheRunningOneAndEnds) {
  QProcess& first = start({});
  ASSERT_TRUE(test::waitUntil([&] { return QFile::exists(socketFile()); }));
  const QString picture = m_home.filePath(QStringLiteral("picture.png"));
  ASSERT_TRUE(QFile::copy(QString::fromStdString(source_folder() + "/resources/demo/samples/picture.png"), picture));
  QProcess& second = start({QStringLiteral("picture.png")}, m_home.path());
  ASSERT_TRUE(ends(second));
  EXPECT_EQ(second.exitStatus(), QProcess::NormalExit);
  EXPECT_EQ(second.exitCode(), 0);
  ASSERT_EQ(first.state(), QProcess::Running);
  // The first one has attached it to a new chat, and saved that as a draft.
  EXPECT_TRUE(test::waitUntil([&] { return drafts() == 1; }));
  first.kill();
  ASSERT_TRUE(ends(first));
  EXPECT_EQ(attached(), QList<QByteArray>{QFile::encodeName(picture)});
}

TEST_F(SecondStartTest, ANewOneStartsWhereTheFirstWasKilled) {
  QProcess& first = start({});
  ASSERT_TRUE(test::waitUntil([&] { return QFile::exists(socketFile()); }));
  first.kill();
  ASSERT_TRUE(ends(first));
  EXPECT_TRUE(QFile::exists(socketFile())) << "nobody could take it away";
  QProcess& second = start({});
  EXPECT_FALSE(second.waitForFinished(1500)) << "it found somebody to hand over to";
}

TEST_F(SecondStartTest, OneThatHangsDoesNotKeepTheNextFromStarting) {
  QProcess& first = start({});
  ASSERT_TRUE(test::waitUntil([&] { return QFile::exists(socketFile()); }));
  ASSERT_EQ(::kill(static_cast<pid_t>(first.processId()), SIGSTOP), 0);
  QProcess& second = start({});
  EXPECT_FALSE(second.waitForFinished(7000)) << "it ended although nobody had taken its request";
}

}  // namespace
}  // namespace winnow::app
