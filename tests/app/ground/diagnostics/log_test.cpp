#include "app/ground/diagnostics/log.h"

#include <gtest/gtest.h>

#include <QDebug>
#include <QDir>
#include <QTemporaryDir>
#include <thread>
#include <vector>

namespace winnow::app {
namespace {

QByteArray content(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

TEST(Log, WritesOneLinePerEntryFromItsLevelOn) {
  QTemporaryDir folder;
  {
    Log log(folder.path());
    log.write(LogLevel::kInfo, "chat", QStringLiteral("opened\nwith \x1b[31m two lines"));
    log.write(LogLevel::kDebug, "chat", QStringLiteral("hidden"));
  }
  Log log(folder.path(), logLevel("debug"));
  log.write(LogLevel::kDebug, "engine", QStringLiteral("shown"));
  EXPECT_EQ(logLevel("error"), LogLevel::kError);
  EXPECT_EQ(logLevel(""), LogLevel::kInfo);
  const QList<QByteArray> lines = content(log.file()).trimmed().split('\n');
  ASSERT_EQ(lines.size(), 2);
  EXPECT_TRUE(lines[0].endsWith(" info chat opened with  [31m two lines")) << lines[0].toStdString();
  EXPECT_TRUE(lines[1].endsWith(" debug engine shown"));
}

TEST(Log, RotatesWithinItsLimits) {
  QTemporaryDir folder;
  {
    Log log(folder.path(), LogLevel::kInfo, {2000, 3});
    for (int i = 0; i < 200; ++i)
      log.write(LogLevel::kInfo, "chat", QStringLiteral("entry %1 %2").arg(i).arg(QString(60, QLatin1Char('x'))));
  }
  const QFileInfoList files = QDir(folder.path()).entryInfoList(QDir::Files);
  EXPECT_EQ(files.size(), 3);
  for (const QFileInfo& file : files) EXPECT_LE(file.size(), 2000) << file.fileName().toStdString();
  EXPECT_TRUE(content(folder.filePath(QStringLiteral("winnow.log"))).contains("entry 199 "));
}

TEST(Log, GoesOnInTheFileOfTheLastStart) {
  QTemporaryDir folder;
  for (int start = 0; start < 2; ++start) Log(folder.path()).write(LogLevel::kInfo, "shell", QStringLiteral("start"));
  EXPECT_EQ(content(folder.filePath(QStringLiteral("winnow.log"))).count('\n'), 2);
}

TEST(Log, TakesQtsMessagesWhileItLives) {
  QTemporaryDir folder;
  {
    Log log(folder.path());
    log.captureQtMessages();
    qWarning() << "from Qt";
    EXPECT_TRUE(content(log.file()).contains(" warning qt from Qt"));
    qWarning() << "cannot open"
               << "/home/somebody/holiday.mp4"
               << "here";
    EXPECT_TRUE(content(log.file()).contains(" warning qt cannot open <path> here")) << content(log.file()).toStdString();
  }
  qWarning() << "after";
  EXPECT_FALSE(content(folder.filePath(QStringLiteral("winnow.log"))).contains("after"));
}

TEST(Log, LinesOfSeveralThreadsStayWhole) {
  QTemporaryDir folder;
  Log log(folder.path());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&log] {
      for (int i = 0; i < 100; ++i) log.write(LogLevel::kInfo, "test", QStringLiteral("whole line"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const QList<QByteArray> lines = content(log.file()).trimmed().split('\n');
  EXPECT_EQ(lines.size(), 400);
  for (const QByteArray& line : lines) EXPECT_TRUE(line.endsWith("Z info test whole line"));
}

TEST(Log, AFolderThatCannotBeWrittenIsNoError) {
  Log log(QStringLiteral("/proc/no/such/folder"));
  EXPECT_NO_THROW(log.write(LogLevel::kError, "test", QStringLiteral("nowhere")));
}

}  // namespace
}  // namespace winnow::app
