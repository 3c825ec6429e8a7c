// A folder that cannot be made is told by its true cause: no guess by how much room is free.
#include "app/ground/process/own_folder.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

#include "tests/support/read_only_folder.h"

namespace winnow::app {
namespace {

class OwnFolder : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(m_home.isValid()); }
  QString at(const QString& below) const { return m_home.filePath(below); }
  void file(const QString& below) const {
    QFile made(at(below));
    ASSERT_TRUE(made.open(QIODevice::WriteOnly));
  }
  QTemporaryDir m_home;
};

TEST_F(OwnFolder, IsMadeWithThoseAboveItAndFoundAgain) {
  EXPECT_TRUE(makeOwnFolder(at(QStringLiteral("a/b/c"))));
  EXPECT_TRUE(QFileInfo(at(QStringLiteral("a/b/c"))).isDir());
  EXPECT_TRUE(makeOwnFolder(at(QStringLiteral("a//b/../b/c/"))));
  ASSERT_TRUE(QFile::link(at(QStringLiteral("a")), at(QStringLiteral("link"))));
  EXPECT_TRUE(makeOwnFolder(at(QStringLiteral("link/d")))) << "a link to a folder is one";
}

TEST_F(OwnFolder, AFileInTheWayIsNamed) {
  file(QStringLiteral("file"));
  for (const char* wanted : {"file", "file/below", "file/far/below"}) {
    const FolderState state = makeOwnFolder(at(QLatin1String(wanted)));
    EXPECT_EQ(state.fault, FolderFault::kFileInTheWay) << wanted;
    EXPECT_EQ(state.path, at(QStringLiteral("file"))) << wanted;
  }
  ASSERT_TRUE(QFile::link(at(QStringLiteral("nowhere")), at(QStringLiteral("dangling"))));
  EXPECT_EQ(makeOwnFolder(at(QStringLiteral("dangling/x"))).path, at(QStringLiteral("dangling")));
}

TEST_F(OwnFolder, ANameThatIsTooLongIsNoFullDisk) {
  const FolderState state = makeOwnFolder(at(QString(300, QLatin1Char('x'))));
  EXPECT_EQ(state.fault, FolderFault::kNameTooLong);
  EXPECT_EQ(state.path, m_home.path());
  const FolderState deep = makeOwnFolder(at(QString(2500, QLatin1Char('x')).replace(QStringLiteral("xxxx"), QStringLiteral("xxx/"))) +
                                         QString(3000, QLatin1Char('y')));
  EXPECT_EQ(deep.fault, FolderFault::kNameTooLong);
  EXPECT_EQ(deep.path, m_home.path());
  EXPECT_FALSE(QFileInfo::exists(at(QStringLiteral("xxx")))) << "nothing of it is made";
}

TEST_F(OwnFolder, OneThatMayNotBeWrittenIsNamed) {
  const test::ReadOnlyFolder locked(m_home.path());
  if (!locked.holds()) GTEST_SKIP() << "this user writes everywhere on this file system";
  for (const FolderState& state : {makeOwnFolder(m_home.path()), makeOwnFolder(at(QStringLiteral("a/b")))}) {
    EXPECT_EQ(state.fault, FolderFault::kNotPermitted);
    EXPECT_EQ(state.path, m_home.path());
  }
}

// A HOME in /proc: "The disk is full … Make some room".
TEST_F(OwnFolder, WhereNoFoldersAreMadeThereIsNoFullDisk) {
  const FolderState state = makeOwnFolder(QStringLiteral("/proc/nobody/winnow"));
  EXPECT_TRUE(state.fault == FolderFault::kNotPossible || state.fault == FolderFault::kNotPermitted) << static_cast<int>(state.fault);
  EXPECT_EQ(state.path, QStringLiteral("/proc"));
  EXPECT_LT(freeBytes(QStringLiteral("/proc")), 0) << "it has no blocks at all";
}

TEST_F(OwnFolder, EveryFaultHasItsReason) {
  EXPECT_EQ(reasonOf(FolderFault::kNone), "");
  for (int fault = 1; fault <= static_cast<int>(FolderFault::kNotPossible); ++fault)
    EXPECT_NE(reasonOf(static_cast<FolderFault>(fault)), "") << fault;
}

}  // namespace
}  // namespace winnow::app
