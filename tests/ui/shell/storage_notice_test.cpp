// Chats that cannot be opened or saved, in the real window: what is said, what can be done, and that nobody is stuck.
#include <sqlite3.h>

#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QPushButton>

#include "app/chats/chat/backups.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/read_only_folder.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/method_control.h"
#include "ui/shell/ground/notice_bar.h"

namespace winnow::test {
namespace {

class StorageNoticeTest : public WindowTest {
 protected:
  // A profile with one chat, closed again.
  void SetUp() override {
    WindowTest::SetUp();
    ask(QStringLiteral("What color is the star?"));
    close();
  }
  QString file() const { return app::ChatDatabase::databaseFile(folders()); }
  void write(const QByteArray& content) {
    QFile f(file());
    ASSERT_TRUE(f.open(QIODevice::WriteOnly | QIODevice::Truncate));
    f.write(content);
  }
  void sql(const char* statements, sqlite3** keptOpen = nullptr) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(QFile::encodeName(file()).constData(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, statements, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    keptOpen != nullptr ? static_cast<void>(*keptOpen = db) : static_cast<void>(sqlite3_close(db));
  }
  // Starts, and waits until the notice says something with these words.
  void startInto(const QString& words) {
    start();
    ASSERT_TRUE(waitUntil([&] { return notice()->text().contains(words); })) << notice()->text().toStdString();
    ASSERT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady; }));
    EXPECT_FALSE(m_store->isOpen());
    EXPECT_TRUE(notice()->isVisible());
    EXPECT_FALSE(noticeBar("faults")->isVisible()) << "a second notice: " << noticeBar("faults")->text().toStdString();
  }
  ui::NoticeBar* notice() { return noticeBar("storage"); }
  bool offers(const QString& label) { return notice()->button(label) != nullptr; }
  void choose(const QString& label) {
    QPushButton* button = notice()->button(label);
    ASSERT_NE(button, nullptr) << label.toStdString();
    QTest::mouseClick(button, Qt::LeftButton);
    ASSERT_TRUE(waitUntil([this] { return m_store->isOpen(); }));
  }
  // Enter says why nothing happens, and the words stay.
  void expectAWordOnEnter(const QString& typed) {
    type(typed);
    pressEnter();
    EXPECT_TRUE(composer()->notice().contains(QStringLiteral("could not be opened"))) << composer()->notice().toStdString();
    EXPECT_EQ(composer()->prompt()->toPlainText(), typed);
  }
  // What was typed before is still there; sending it works.
  void expectItIsAnswered(const QString& typed) {
    ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
    ASSERT_EQ(composer()->prompt()->toPlainText(), typed);
    session().chat.startNew();
    ASSERT_TRUE(sends(typed));
    ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && last().metrics.valid; }));
  }
  void expectNothingIsSaved() {
    EXPECT_TRUE(notice()->text().contains(QStringLiteral("Nothing is saved from now on"))) << notice()->text().toStdString();
    EXPECT_TRUE(notice()->isVisible());
  }
  const QString m_goOn = QStringLiteral("Continue without saving");
  const QString m_tryAgain = QStringLiteral("Try again");
  const QString m_startEmpty = QStringLiteral("Start with an empty list");
};

TEST_F(StorageNoticeTest, ADamagedFileCanBeSetAside) {
  write("not a database at all");
  startInto(QStringLiteral("“winnow.db” is damaged"));
  expectAWordOnEnter(QStringLiteral("hello"));
  EXPECT_TRUE(offers(QStringLiteral("Show folder")));
  choose(m_startEmpty);
  expectItIsAnswered(QStringLiteral("hello"));
  EXPECT_TRUE(notice()->text().contains(QStringLiteral("winnow.db.aside-1"))) << notice()->text().toStdString();
  EXPECT_EQ(QFileInfo(file() + QStringLiteral(".aside-1")).size(), 21);
  reopen();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; })) << "the new list is not saved";
  EXPECT_FALSE(notice()->isVisible());
}

TEST_F(StorageNoticeTest, ADamagedFileGivesWayToABackup) {
  const app::Backup backup = app::makeBackup(folders(), QDateTime(QDate(2026, 3, 12), QTime(9, 30)).toMSecsSinceEpoch());
  write("not a database at all");
  startInto(QStringLiteral("damaged"));
  const QString label = QStringLiteral("Restore the backup of %1")
                            .arg(QLocale().toString(QDateTime::fromMSecsSinceEpoch(backup.madeMs), QLocale::ShortFormat));
  choose(label);
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; })) << "the chat is not back";
  EXPECT_EQ(transcript()->messageAt(0).text, QStringLiteral("What color is the star?"));
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".aside-1")));
}

TEST_F(StorageNoticeTest, TheDetailsNameTheCauseAndNotWhatFollowsFromIt) {
  write("not a database at all");
  startInto(QStringLiteral("damaged"));
  m_settings->setZoom(1.1);  // cannot be stored, as everything from now on
  session().chat.startNew();
  QTest::qWait(50);
  QTest::mouseClick(notice()->button(QStringLiteral("Copy details")), Qt::LeftButton);
  const QString copied = QApplication::clipboard()->text();
  EXPECT_TRUE(copied.contains(file())) << copied.toStdString();
  EXPECT_TRUE(copied.contains(QStringLiteral("damaged or not a database"))) << copied.toStdString();
  EXPECT_FALSE(copied.contains(QStringLiteral("they are not open")));
  EXPECT_FALSE(noticeBar("faults")->isVisible());
}

TEST_F(StorageNoticeTest, ANewerFileIsLeftAlone) {
  sql("PRAGMA user_version=99;");
  QFile before(file());
  ASSERT_TRUE(before.open(QIODevice::ReadOnly));
  const QByteArray bytes = before.readAll();
  startInto(QStringLiteral("newer version of Winnow"));
  EXPECT_TRUE(notice()->text().contains(QStringLiteral("Update Winnow")));
  expectAWordOnEnter(QStringLiteral("hello"));
  choose(m_goOn);
  expectItIsAnswered(QStringLiteral("hello"));
  expectNothingIsSaved();
  close();
  QFile after(file());
  ASSERT_TRUE(after.open(QIODevice::ReadOnly));
  EXPECT_EQ(after.readAll(), bytes);
}

TEST_F(StorageNoticeTest, AReadOnlyFolderStillShowsTheChatsInMemory) {
  const ReadOnlyFolder locked(folders().data);
  if (!locked.holds()) GTEST_SKIP() << "this user writes everywhere on this file system";
  startInto(QStringLiteral("may not write"));
  expectAWordOnEnter(QStringLiteral("and now?"));
  EXPECT_TRUE(offers(m_tryAgain));
  choose(m_goOn);
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; })) << "the old chat cannot be read";
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("and now?"));
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 4 && last().metrics.valid; }));
  expectNothingIsSaved();
}

TEST_F(StorageNoticeTest, AFolderThatCannotBeMadeStillLetsOneChat) {
  ASSERT_TRUE(QDir(folders().data).removeRecursively());
  const ReadOnlyFolder locked(m_folder.path());
  if (!locked.holds()) GTEST_SKIP() << "this user writes everywhere on this file system";
  startInto(QStringLiteral("may not write"));
  expectAWordOnEnter(QStringLiteral("hello"));
  choose(m_goOn);
  expectItIsAnswered(QStringLiteral("hello"));
  expectNothingIsSaved();
}

// "The disk is full … Make some room" was said of a HOME that was no folder.
TEST_F(StorageNoticeTest, WhyTheFolderCannotBeMadeIsToldByItsTrueCause) {
  ASSERT_TRUE(QDir(folders().data).removeRecursively());
  {
    QFile inTheWay(folders().data);
    ASSERT_TRUE(inTheWay.open(QIODevice::WriteOnly));
  }
  startInto(QStringLiteral("“%1” is a file, and Winnow needs a folder there.").arg(folders().data));
  EXPECT_TRUE(notice()->text().contains(QStringLiteral("Move or rename the file")));
  EXPECT_TRUE(composer()->method()->text().startsWith(QStringLiteral("Self-study"))) << composer()->method()->text().toStdString();
  expectAWordOnEnter(QStringLiteral("hello"));
  ASSERT_TRUE(QFile::remove(folders().data));
  choose(m_tryAgain);
  EXPECT_FALSE(notice()->isVisible());
  expectItIsAnswered(QStringLiteral("hello"));
}

// Each is said, nothing is lost, and the words stay in the box.
TEST_F(StorageNoticeTest, AQuestionThatTheDatabaseRefusesIsSaidAndStays) {
  open();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  sql("CREATE TRIGGER refuses BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'no more'); END");
  ASSERT_TRUE(sends(QStringLiteral("and now?")));
  ASSERT_TRUE(waitUntil([this] { return notice()->isVisible() && !session().answers.busy(); }));
  EXPECT_TRUE(notice()->text().contains(QStringLiteral("could not be saved"))) << notice()->text().toStdString();
  QTest::qWait(600);  // the draft is saved meanwhile, which is no sign that questions are
  EXPECT_TRUE(notice()->isVisible());
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("and now?"));
  EXPECT_EQ(transcript()->messageCount(), 2);
  sql("DROP TRIGGER refuses");
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 4 && last().metrics.valid; }));
  EXPECT_FALSE(notice()->isVisible());
}

TEST_F(StorageNoticeTest, AQuestionThatMeetsAnotherProgramsLockIsSaidAndStays) {
  open();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  sqlite3* other = nullptr;
  sql("BEGIN IMMEDIATE", &other);
  ASSERT_TRUE(sends(QStringLiteral("and now?")));
  ASSERT_TRUE(waitUntil([this] { return notice()->isVisible() && !session().answers.busy(); }));
  EXPECT_TRUE(notice()->text().contains(QStringLiteral("Another program is using your chats"))) << notice()->text().toStdString();
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("and now?"));
  sqlite3_close(other);
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 4 && last().metrics.valid; }));
  EXPECT_FALSE(notice()->isVisible());
}

TEST_F(StorageNoticeTest, TryingAgainOpensWhatIsFreeAgain) {
  auto other = std::make_unique<app::ChatDatabase>(folders());
  startInto(QStringLiteral("Another program is using your chats"));
  expectAWordOnEnter(QStringLiteral("hello"));
  QTest::mouseClick(notice()->button(m_tryAgain), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return notice()->isVisible(); })) << "nothing is said after the second try";
  EXPECT_TRUE(offers(m_goOn));
  other.reset();
  choose(m_tryAgain);
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  EXPECT_FALSE(notice()->isVisible());
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("hello"));
}

TEST_F(StorageNoticeTest, AnotherProgramsLockIsNoDeadEnd) {
  sqlite3* other = nullptr;
  sql("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version=7;", &other);
  startInto(QStringLiteral("Another program is using your chats"));
  EXPECT_TRUE(offers(m_tryAgain));
  choose(m_goOn);
  expectNothingIsSaved();
  sqlite3_close(other);
}

// The disk is full from the first write on.
class FullDiskTest : public StorageNoticeTest {
 protected:
  void SetUp() override {
    StorageNoticeTest::SetUp();
    register_faulty_vfs();
    arm_fault(0, SQLITE_OK);
    sqlite3_vfs_register(sqlite3_vfs_find(kFaultyVfs), 1);
  }
  void TearDown() override {
    arm_fault(0, SQLITE_OK);
    StorageNoticeTest::TearDown();
    sqlite3_vfs_register(sqlite3_vfs_find("unix"), 1);
  }
};

TEST_F(FullDiskTest, AtTheFirstStartOneCanTryAgainOrGoOn) {
  ASSERT_TRUE(QFile::remove(file()));
  arm_fault(1, SQLITE_FULL, 1'000'000);
  startInto(QStringLiteral("disk is full"));
  expectAWordOnEnter(QStringLiteral("hello"));
  EXPECT_TRUE(offers(m_goOn));
  arm_fault(0, SQLITE_OK);
  choose(m_tryAgain);
  EXPECT_FALSE(notice()->isVisible());
  expectItIsAnswered(QStringLiteral("hello"));
}

TEST_F(FullDiskTest, InBetweenTheQuestionStaysAndTheNoticeGoesWithTheCause) {
  open();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  arm_fault(1, SQLITE_FULL, 1'000'000);
  ASSERT_TRUE(sends(QStringLiteral("and now?")));
  ASSERT_TRUE(waitUntil([this] { return notice()->isVisible() && !session().answers.busy(); }));
  EXPECT_TRUE(notice()->text().contains(QStringLiteral("disk is full")));
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("and now?"));
  EXPECT_EQ(transcript()->messageCount(), 2);
  arm_fault(0, SQLITE_OK);
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 4 && last().metrics.valid; }));
  EXPECT_FALSE(notice()->isVisible());
}

// Whatever a write meets while the program runs is said.
TEST_F(FullDiskTest, InBetweenEveryRefusalOfTheDiskIsSaid) {
  open();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  const std::pair<int, const char*> refusals[] = {{SQLITE_READONLY, "may not write"}, {SQLITE_CORRUPT, "damaged"}};
  for (const auto& [code, words] : refusals) {
    arm_fault(1, code, 1'000'000);
    ASSERT_TRUE(sends(QStringLiteral("and now?")));
    ASSERT_TRUE(waitUntil([this] { return notice()->isVisible() && !session().answers.busy(); })) << words;
    EXPECT_TRUE(waitUntil([&, said = words] { return notice()->text().contains(QLatin1String(said)); })) << notice()->text().toStdString();
    EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("and now?"));
    arm_fault(0, SQLITE_OK);
    notice()->dismiss();
  }
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 4 && last().metrics.valid; }));
}

TEST_F(FullDiskTest, InBetweenOneCanGoOnWithWhatIsThere) {
  open();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  arm_fault(1, SQLITE_FULL, 1'000'000);
  ASSERT_TRUE(sends(QStringLiteral("and now?")));
  ASSERT_TRUE(waitUntil([this] { return notice()->isVisible() && !session().answers.busy(); }));
  choose(m_goOn);
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && composer()->sendButton()->isEnabled(); }));
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("and now?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 4 && last().metrics.valid; }));
  expectNothingIsSaved();
}

TEST_F(StorageNoticeTest, ItsButtonsFitANarrowWindow) {
  app::makeBackup(folders(), QDateTime(QDate(2026, 3, 12), QTime(9, 30)).toMSecsSinceEpoch());
  app::makeBackup(folders(), QDateTime(QDate(2026, 3, 13), QTime(9, 30)).toMSecsSinceEpoch());
  write("not a database at all");
  startInto(QStringLiteral("damaged"));
  for (const int width : {1280, 700, 480}) {
    m_window->resize(width, 800);
    QTest::qWait(50);
    EXPECT_LE(m_window->width(), width);
    for (const QPushButton* button : notice()->findChildren<QPushButton*>()) {
      if (!button->isVisible()) continue;
      EXPECT_LE(button->mapTo(notice(), QPoint(button->width(), 0)).x(), notice()->width()) << width;
    }
  }
}

// Between "the chats are open" and "the last chat is shown" a question would begin another chat.
TEST_F(StorageNoticeTest, AQuestionWaitsForTheChatThatIsBeingOpened) {
  start();
  bool asked = false;
  QObject::connect(&session().chat, &ui::OpenChat::storeOpened, m_window.get(), [&] {
    EXPECT_TRUE(session().answers.blockedReason().contains(QStringLiteral("Opening your chat")))
        << session().answers.blockedReason().toStdString();
    session().answers.send(QStringLiteral("too early"), {});
    EXPECT_FALSE(session().answers.busy());
    asked = true;
  });
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && session().answers.blockedReason().isEmpty(); }));
  EXPECT_TRUE(asked);
  EXPECT_EQ(session().list.model().rowCount(), 1);
}

// A second start, as app/programs/bootstrap tells it.
TEST_F(StorageNoticeTest, ASecondStartRaisesTheWindowWithWhatItWasAskedFor) {
  open();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  m_window->showMinimized();
  m_window->openFrom({{"/clips/a.mp4"}, QStringLiteral("What moves?"), {}, {}});
  EXPECT_FALSE(m_window->isMinimized());
  EXPECT_TRUE(m_window->isVisible());
  EXPECT_EQ(session().chat.id(), 0) << "it is not a new chat";
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("What moves?"));
  EXPECT_EQ(composer()->tray()->count(), 1);
  // What is being written is never lost to the next one.
  composer()->prompt()->setPlainText(QStringLiteral("half a thought"));
  m_window->openFrom({{"/clips/b.mp4"}, QStringLiteral("Another question?"), {}, {}});
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("half a thought"));
  EXPECT_EQ(composer()->tray()->count(), 2);
  m_window->openFrom({{}, {}, QStringLiteral("/models/other"), {}});
  ASSERT_TRUE(waitUntil(
      [this] { return session().model.folder() == QStringLiteral("/models/other") && session().model.state() == ui::ModelState::kReady; }));
  EXPECT_EQ(composer()->tray()->count(), 2);
}

}  // namespace
}  // namespace winnow::test
