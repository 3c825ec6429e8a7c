#include "app/ground/resources/bundled_files.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

namespace winnow::app {
namespace {

class BundledFiles : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(m_home.isValid()); }
  QString path(const QString& name) const { return m_home.filePath(name); }
  void write(const QString& name, const QByteArray& content) {
    ASSERT_TRUE(QDir().mkpath(QFileInfo(path(name)).path()));
    QFile file(path(name));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(content);
  }
  QTemporaryDir m_home;
};

TEST_F(BundledFiles, ReadsSamplesAndLeavesOutWhatIsMissingOrOutside) {
  write(QStringLiteral("outside.mp4"), "v");
  write(QStringLiteral("samples/a.mp4"), "v");
  write(QStringLiteral("samples/samples.json"), R"({"samples": [
    {"file": "a.mp4", "title": "A ball", "questions": [{"question": "What colour?", "answer": "red"}, {"question": "Where?"}]},
    {"file": "gone.mp4", "title": "gone"}, {"file": "../outside.mp4", "title": "outside"}, {"file": 7}, "text", {"file": "a.mp4"}]})");
  const QList<Sample> samples = readSamples(path(QStringLiteral("samples")));
  ASSERT_EQ(samples.size(), 2);
  EXPECT_EQ(samples[0].title, QStringLiteral("A ball"));
  EXPECT_EQ(samples[0].file, path(QStringLiteral("samples/a.mp4")));
  ASSERT_EQ(samples[0].questions.size(), 2);
  EXPECT_EQ(samples[0].questions[0].answer, QStringLiteral("red"));
  EXPECT_EQ(samples[1].title, QStringLiteral("a"));
  write(QStringLiteral("samples/samples.json"), "nonsense");
  EXPECT_TRUE(readSamples(path(QStringLiteral("samples"))).isEmpty());
}

TEST_F(BundledFiles, TheResourceFolderOfTheEnvironmentComesFirst) {
  write(QStringLiteral("demo/model/config.json"), "{}");
  qputenv("WINNOW_RESOURCE_DIR", QFile::encodeName(m_home.path()));
  EXPECT_EQ(resourceFolder(), m_home.path());
  EXPECT_EQ(demoModelFolder(), path(QStringLiteral("demo/model")));
  qputenv("WINNOW_RESOURCE_DIR", "/no/such/folder");
  EXPECT_NE(resourceFolder(), QStringLiteral("/no/such/folder"));
  qunsetenv("WINNOW_RESOURCE_DIR");
}

}  // namespace
}  // namespace winnow::app
