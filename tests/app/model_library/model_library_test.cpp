#include "app/model_library/model_library.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

namespace winnow::app {
namespace {

class ModelLibraryTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(m_home.isValid()); }
  QString path(const QString& name) const { return m_home.filePath(name); }
  void write(const QString& name, const QByteArray& content) {
    ASSERT_TRUE(QDir().mkpath(QFileInfo(path(name)).path()));
    QFile file(path(name));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(content);
  }
  void model(const QString& folder) {
    write(folder + QStringLiteral("/config.json"),
          R"({"model_type": "llava_onevision", "architectures": ["LlavaOnevisionForConditionalGeneration"], "vision_config": {}})");
    write(folder + QStringLiteral("/model.safetensors"), QByteArray(100, 'w'));
    write(folder + QStringLiteral("/tokenizer.json"), "{}");
  }
  QTemporaryDir m_home;
};

TEST_F(ModelLibraryTest, ReadsAWholeFolder) {
  model(QStringLiteral("one"));
  const ModelEntry entry = inspectModelFolder(path(QStringLiteral("one/")));
  EXPECT_TRUE(entry.usable()) << entry.problemDetail.toStdString();
  EXPECT_EQ(entry.name, QStringLiteral("one"));
  EXPECT_EQ(entry.modelType, QStringLiteral("llava_onevision"));
  EXPECT_EQ(entry.architecture, QStringLiteral("LlavaOnevisionForConditionalGeneration"));
  EXPECT_TRUE(entry.hasVision);
  EXPECT_EQ(entry.weightBytes, 100);
  EXPECT_EQ(entry.shardCount, 1);
  EXPECT_FALSE(entry.isDemo);
}

TEST_F(ModelLibraryTest, SaysWhatIsWrong) {
  const QString m = QStringLiteral("m");
  const auto problem = [&] { return inspectModelFolder(path(m)).problem; };
  EXPECT_EQ(problem(), ModelProblem::kNoConfig);
  model(m);
  QFile::remove(path(m + QStringLiteral("/tokenizer.json")));
  EXPECT_EQ(problem(), ModelProblem::kNoTokenizer);
  QFile::remove(path(m + QStringLiteral("/model.safetensors")));
  EXPECT_EQ(problem(), ModelProblem::kNoWeights);
  write(m + QStringLiteral("/pytorch_model.bin"), "PK");
  EXPECT_EQ(problem(), ModelProblem::kPickleWeights);
  for (const QByteArray& config :
       {QByteArray("{"), QByteArray("[]"), QByteArray("{}"), QByteArray(R"({"model_type": 7})"), QByteArray(2 << 20, '[')}) {
    write(m + QStringLiteral("/config.json"), config);
    EXPECT_EQ(problem(), ModelProblem::kDamagedConfig) << config.left(20).toStdString();
  }
}

TEST_F(ModelLibraryTest, CountsTheShardsOfTheIndexAndMissesThem) {
  const QString m = QStringLiteral("m");
  model(m);
  write(m + QStringLiteral("/a.safetensors"), QByteArray(10, 'a'));
  write(m + QStringLiteral("/model.safetensors.index.json"), R"({"weight_map": {"x": "a.safetensors", "y": "a.safetensors"}})");
  EXPECT_EQ(inspectModelFolder(path(m)).weightBytes, 10);
  EXPECT_TRUE(inspectModelFolder(path(m)).usable());
  for (const char* shard : {"b.safetensors", "../m/a.safetensors", "/etc/hostname"}) {
    write(m + QStringLiteral("/model.safetensors.index.json"), QByteArray(R"({"weight_map": {"x": ")") + shard + R"("}})");
    EXPECT_EQ(inspectModelFolder(path(m)).problem, ModelProblem::kMissingShard) << shard;
  }
  write(m + QStringLiteral("/model.safetensors.index.json"), "{}");
  EXPECT_EQ(inspectModelFolder(path(m)).problem, ModelProblem::kMissingShard);
}

TEST_F(ModelLibraryTest, ScansSubFoldersAndTheLayoutOfAHuggingFaceCache) {
  model(QStringLiteral("root/zeta"));
  model(QStringLiteral("root/models--owner--Alpha-7B/snapshots/0123"));
  model(QStringLiteral("root/zeta/inside"));  // part of a model, not one of its own
  write(QStringLiteral("root/empty/readme.txt"), "x");
  const QList<ModelEntry> models = scanForModels(path(QStringLiteral("root")));
  ASSERT_EQ(models.size(), 2);
  EXPECT_EQ(models[0].name, QStringLiteral("Alpha-7B"));
  EXPECT_EQ(models[1].name, QStringLiteral("zeta"));
  EXPECT_EQ(scanForModels(path(QStringLiteral("root/zeta"))).size(), 1);
  EXPECT_EQ(scanForModels(path(QStringLiteral("root")), 1).size(), 1);  // depth
  EXPECT_TRUE(scanForModels(path(QStringLiteral("nowhere"))).isEmpty());
}

TEST_F(ModelLibraryTest, ALinkThatLeadsBackUpEndsTheScan) {
  model(QStringLiteral("root/a"));
  ASSERT_TRUE(QFile::link(path(QStringLiteral("root")), path(QStringLiteral("root/loop"))));
  EXPECT_EQ(scanForModels(path(QStringLiteral("root")), 50).size(), 1);
}

TEST_F(ModelLibraryTest, ReadsSamplesAndLeavesOutWhatIsMissingOrOutside) {
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

TEST_F(ModelLibraryTest, TheResourceFolderOfTheEnvironmentComesFirst) {
  model(QStringLiteral("demo/model"));
  qputenv("WINNOW_RESOURCE_DIR", QFile::encodeName(m_home.path()));
  EXPECT_EQ(resourceFolder(), m_home.path());
  EXPECT_TRUE(demoModel().isDemo);
  EXPECT_TRUE(demoModel().usable());
  qputenv("WINNOW_RESOURCE_DIR", "/no/such/folder");
  EXPECT_NE(resourceFolder(), QStringLiteral("/no/such/folder"));
  qunsetenv("WINNOW_RESOURCE_DIR");
}

TEST(RecentFolders, NewestFirstAndNoDuplicates) {
  const QStringList recent = {QStringLiteral("a"), QStringLiteral("b")};
  EXPECT_EQ(withRecentFolder(recent, QStringLiteral("b")), (QStringList{QStringLiteral("b"), QStringLiteral("a")}));
}

}  // namespace
}  // namespace winnow::app
