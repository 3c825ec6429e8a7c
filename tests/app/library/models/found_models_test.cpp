// A made-up home with a model of every program that Winnow knows: what is found of it, and what is left alone.
#include "app/library/models/found_models.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include "app/library/models/model_finder.h"
#include "tests/support/golden_path.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

using test::waitUntil;

const QString kVision = QStringLiteral(R"({"architectures":["LlavaOnevisionForConditionalGeneration"],"vision_config":{}})");
const QString kText = QStringLiteral(R"({"architectures":["Qwen2ForCausalLM"]})");
const QString kHex = QString(64, QLatin1Char('a'));

class FoundModels : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* variable : {"OLLAMA_MODELS", "HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"}) qunsetenv(variable);
    ASSERT_TRUE(m_home.isValid());
  }
  QString at(const QString& path) const { return m_home.filePath(path); }
  void write(const QString& path, const QByteArray& bytes) {
    ASSERT_TRUE(QDir().mkpath(QFileInfo(at(path)).absolutePath()));
    QFile file(at(path));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    ASSERT_EQ(file.write(bytes), bytes.size());
  }
  void gguf(const QString& path, int bytes = 100) { write(path, "GGUF" + QByteArray(bytes - 4, 'x')); }
  void folder(const QString& path, const QString& config, int bytes = 300) {
    write(path + QStringLiteral("/config.json"), config.toUtf8());
    write(path + QStringLiteral("/model.safetensors"), QByteArray(bytes, 'x'));
  }
  void manifest(const QString& tag, const QString& digest) {
    write(QStringLiteral(".ollama/models/manifests/") + tag,
          QStringLiteral(R"({"layers":[{"mediaType":"application/vnd.ollama.image.template","digest":"sha256:%1"},)"
                         R"({"mediaType":"application/vnd.ollama.image.model","digest":"%2","size":5}]})")
              .arg(QString(64, QLatin1Char('b')), digest)
              .toUtf8());
  }
  // Without what the machine that the test runs on has for all of its users.
  ModelFolders folders() const {
    ModelFolders all = modelFolders(at(QStringLiteral("winnow")), m_home.path());
    std::erase_if(all, [this](const auto& folder) { return !folder.second.startsWith(m_home.path()); });
    return all;
  }
  std::vector<FoundModel> found() const { return findModels(folders(), {}); }
  QStringList names() const {
    QStringList list;
    for (const FoundModel& model : found()) list << model.name;
    return list;
  }

  QTemporaryDir m_home;
};

TEST_F(FoundModels, EveryProgramsModelsAreFoundWhereTheyLie) {
  gguf(QStringLiteral("winnow/models/smollm2/SmolLM2.Q4_1.gguf"), 98);
  manifest(QStringLiteral("registry.ollama.ai/library/llama3.2/3b"), QStringLiteral("sha256:") + kHex);
  gguf(QStringLiteral(".ollama/models/blobs/sha256-") + kHex, 2000);
  gguf(QStringLiteral(".lmstudio/models/publisher/repository/Qwen2.Q8_0.gguf"));
  folder(QStringLiteral(".cache/huggingface/hub/models--owner--a-name/snapshots/0123456789abcdef"), kVision);
  gguf(QStringLiteral("jan/models/tinyllama/model.gguf"));
  gguf(QStringLiteral(".local/share/nomic.ai/GPT4All/Mistral.gguf"));
  const std::vector<FoundModel> expected{
      {ModelOrigin::kWinnow, QStringLiteral("SmolLM2.Q4_1"), at(QStringLiteral("winnow/models/smollm2/SmolLM2.Q4_1.gguf")), 98, false},
      {ModelOrigin::kOllama, QStringLiteral("llama3.2:3b"), at(QStringLiteral(".ollama/models/blobs/sha256-") + kHex), 2000, false},
      {ModelOrigin::kLmStudio, QStringLiteral("Qwen2.Q8_0"), at(QStringLiteral(".lmstudio/models/publisher/repository/Qwen2.Q8_0.gguf")),
       100, false},
      {ModelOrigin::kHuggingFace, QStringLiteral("owner/a-name"),
       at(QStringLiteral(".cache/huggingface/hub/models--owner--a-name/snapshots/0123456789abcdef")), 300, true, true},
      {ModelOrigin::kJan, QStringLiteral("tinyllama"), at(QStringLiteral("jan/models/tinyllama/model.gguf")), 100, false},
      {ModelOrigin::kGpt4All, QStringLiteral("Mistral"), at(QStringLiteral(".local/share/nomic.ai/GPT4All/Mistral.gguf")), 100, false},
  };
  EXPECT_EQ(found(), expected) << names().join(QStringLiteral(", ")).toStdString();
}

TEST_F(FoundModels, TheVariablesThatMoveAFolderAreHeeded) {
  qputenv("HF_HOME", QFile::encodeName(at(QStringLiteral("hf"))));
  qputenv("OLLAMA_MODELS", QFile::encodeName(at(QStringLiteral("elsewhere"))));
  folder(QStringLiteral("hf/hub/models--o--n/snapshots/0123456789"), kText);
  write(QStringLiteral("elsewhere/manifests/registry.ollama.ai/me/tiny/latest"),
        R"({"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:)" + kHex.toUtf8() + R"("}]})");
  gguf(QStringLiteral("elsewhere/blobs/sha256-") + kHex);
  EXPECT_EQ(names(), QStringList({QStringLiteral("me/tiny:latest"), QStringLiteral("o/n")}));
  EXPECT_FALSE(found().back().sees) << "its config names no vision tower";
  for (const char* variable : {"HF_HOME", "OLLAMA_MODELS"}) qunsetenv(variable);
}

TEST_F(FoundModels, AModelOfImagesAloneIsToldFromThoseOfVideos) {
  folder(QStringLiteral("winnow/models/one"), QStringLiteral(R"({"architectures":["LlavaForConditionalGeneration"],"vision_config":{}})"));
  ASSERT_EQ(found().size(), 1U);
  EXPECT_TRUE(found()[0].sees);
  EXPECT_FALSE(found()[0].readsVideos);
}

TEST_F(FoundModels, ModelsThatHearAreToldFromThoseThatAnswer) {
  ASSERT_TRUE(QDir().mkpath(at(QStringLiteral("winnow/models"))));
  const QString golden = QString::fromStdString(test_support::golden_folder("whisper/english"));
  ASSERT_TRUE(QFile::link(golden, at(QStringLiteral("winnow/models/whisper"))));
  write(QStringLiteral("winnow/models/ggml-none.bin"), QByteArray(100, 'x'));
  folder(QStringLiteral("winnow/models/talks"), kText);
  ASSERT_EQ(names(), (QStringList{QStringLiteral("talks"), QStringLiteral("whisper")}));
  EXPECT_FALSE(found()[0].hears);
  EXPECT_TRUE(found()[1].hears);
  ModelFinder finder(folders());
  finder.look();
  ASSERT_TRUE(waitUntil([&] { return !finder.models().empty(); }));
  EXPECT_EQ(finder.models().size(), 1U) << "of the models that a chat may choose from";
}

TEST_F(FoundModels, AFileBesideItsEyesIsAModelThatSees) {
  const QString models = QStringLiteral("winnow/models/smolvlm/");
  const QString golden = QString::fromStdString(test_support::golden_folder("smolvlm/smolvlm2_split")) + QStringLiteral("/gguf/");
  ASSERT_TRUE(QDir().mkpath(at(models)));
  ASSERT_TRUE(QFile::copy(golden + QStringLiteral("model.gguf"), at(models + QStringLiteral("smolvlm.gguf"))));
  ASSERT_EQ(found().size(), 1U);
  EXPECT_FALSE(found()[0].sees);
  ASSERT_TRUE(QFile::copy(golden + QStringLiteral("mmproj-model.gguf"), at(models + QStringLiteral("mmproj-smolvlm.gguf"))));
  ASSERT_EQ(names(), QStringList(QStringLiteral("smolvlm")));
  EXPECT_TRUE(found()[0].sees);
  EXPECT_TRUE(found()[0].readsVideos);
}

TEST_F(FoundModels, ATagOfOllamasThatNamesAProjectorIsAModelThatSees) {
  const QString golden = QString::fromStdString(test_support::golden_folder("smolvlm/smolvlm2_split")) + QStringLiteral("/gguf/");
  const QString blobs = QStringLiteral(".ollama/models/blobs/sha256-");
  const QString eyes(64, QLatin1Char('c'));
  ASSERT_TRUE(QDir().mkpath(at(QStringLiteral(".ollama/models/blobs"))));
  ASSERT_TRUE(QFile::copy(golden + QStringLiteral("model.gguf"), at(blobs + kHex)));
  ASSERT_TRUE(QFile::copy(golden + QStringLiteral("mmproj-model.gguf"), at(blobs + eyes)));
  manifest(QStringLiteral("registry.ollama.ai/library/smolvlm/blind"), QStringLiteral("sha256:") + kHex);
  ASSERT_EQ(names(), QStringList(QStringLiteral("smolvlm:blind")));
  EXPECT_FALSE(found()[0].sees);
  write(QStringLiteral(".ollama/models/manifests/registry.ollama.ai/library/smolvlm/blind"),
        QStringLiteral(R"({"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:%1"},)"
                       R"({"mediaType":"application/vnd.ollama.image.projector","digest":"sha256:%2"}]})")
            .arg(kHex, eyes)
            .toUtf8());
  ASSERT_EQ(names().size(), 1);
  EXPECT_TRUE(found()[0].sees);
  EXPECT_TRUE(found()[0].readsVideos);
}

TEST_F(FoundModels, ATagOfOllamasWithEyesInsideIsAModelThatSees) {
  const QString golden = QString::fromStdString(test_support::golden_folder("ollama/qwen2_5_vl.gguf"));
  ASSERT_TRUE(QDir().mkpath(at(QStringLiteral(".ollama/models/blobs"))));
  ASSERT_TRUE(QFile::copy(golden, at(QStringLiteral(".ollama/models/blobs/sha256-") + kHex)));
  manifest(QStringLiteral("registry.ollama.ai/library/qwen2.5vl/3b"), QStringLiteral("sha256:") + kHex);
  ASSERT_EQ(names(), QStringList(QStringLiteral("qwen2.5vl:3b")));
  EXPECT_TRUE(found()[0].sees);
  EXPECT_TRUE(found()[0].readsVideos);
}

TEST_F(FoundModels, WhatIsNoModelIsLeftOut) {
  const QString models = QStringLiteral("winnow/models/");
  gguf(models + QStringLiteral("mmproj-llava.gguf"));
  write(models + QStringLiteral("named-so.gguf"), "PK\x03\x04 no gguf");
  write(models + QStringLiteral("empty.gguf"), {});
  folder(models + QStringLiteral("bert"), QStringLiteral(R"({"architectures":["BertModel"]})"));
  folder(models + QStringLiteral("damaged"), QStringLiteral("{"));
  write(models + QStringLiteral("config-only/config.json"), kText.toUtf8());
  manifest(QStringLiteral("registry.ollama.ai/library/leads/out"), QStringLiteral("sha256:../../../../winnow/models/x"));
  manifest(QStringLiteral("registry.ollama.ai/library/gone/blob"), QStringLiteral("sha256:") + kHex);
  write(QStringLiteral(".ollama/models/manifests/registry.ollama.ai/library/broken/tag"), "{\"layers\": 3}");
  EXPECT_EQ(names(), QStringList());
}

TEST_F(FoundModels, ASplitFileIsOneModelIfAllPartsAreThere) {
  const QString big = QStringLiteral("winnow/models/big-0000%1-of-00002.gguf");
  gguf(big.arg(1), 50);
  EXPECT_EQ(names(), QStringList()) << "half of it is still to come";
  gguf(big.arg(2), 70);
  ASSERT_EQ(names(), QStringList(QStringLiteral("big")));
  EXPECT_EQ(found()[0].bytes, 120);
}

TEST_F(FoundModels, LinksAreFollowedButNotInACircle) {
  gguf(QStringLiteral("disk/llama.gguf"));
  ASSERT_TRUE(QDir().mkpath(at(QStringLiteral("winnow/models/deep"))));
  ASSERT_TRUE(QFile::link(at(QStringLiteral("disk")), at(QStringLiteral("winnow/models/deep/disk"))));
  ASSERT_TRUE(QFile::link(at(QStringLiteral("winnow/models")), at(QStringLiteral("winnow/models/deep/back"))));
  ASSERT_TRUE(QFile::link(at(QStringLiteral("disk/llama.gguf")), at(QStringLiteral("winnow/models/again.gguf"))));
  EXPECT_EQ(names().size(), 1) << names().join(QStringLiteral(", ")).toStdString();
}

TEST_F(FoundModels, OfARepositoryTheRevisionOfItsBranchIsFound) {
  const QString repository = QStringLiteral(".cache/huggingface/hub/models--o--n/");
  folder(repository + QStringLiteral("snapshots/aaaaaaaa"), kText);
  folder(repository + QStringLiteral("snapshots/bbbbbbbb"), kText);
  write(repository + QStringLiteral("refs/main"), "aaaaaaaa");
  ASSERT_EQ(found().size(), 1U);
  EXPECT_TRUE(found()[0].path.endsWith(QStringLiteral("/aaaaaaaa")));
  write(repository + QStringLiteral("refs/main"), "../../../../..");
  EXPECT_EQ(found().size(), 1U) << "a branch that leads elsewhere is not followed";
  EXPECT_EQ(found()[0].name, QStringLiteral("o/n"));
}

TEST_F(FoundModels, RevisionsThatWereAskedForByNameAreListedBesideMain) {
  const QString repository = QStringLiteral(".cache/huggingface/hub/models--o--n/");
  folder(repository + QStringLiteral("snapshots/aaaaaaaa"), kText);
  folder(repository + QStringLiteral("snapshots/bbbbbbbb"), kText);
  folder(repository + QStringLiteral("snapshots/cccccccc"), kText);
  write(repository + QStringLiteral("refs/main"), "aaaaaaaa");
  write(repository + QStringLiteral("refs/pr/3"), "bbbbbbbb");
  write(repository + QStringLiteral("refs/same"), "aaaaaaaa");
  EXPECT_EQ(names(), QStringList({QStringLiteral("o/n"), QStringLiteral("o/n@pr/3")})) << "what nothing names is an older one";
  ASSERT_TRUE(QFile::remove(at(repository + QStringLiteral("refs/main"))));
  EXPECT_EQ(names(), QStringList({QStringLiteral("o/n@pr/3"), QStringLiteral("o/n@same")}));
}

TEST_F(FoundModels, TheSearchEndsWithManyEntriesAndWhenItIsInterrupted) {
  for (int i = 0; i < 300; ++i) gguf(QStringLiteral("winnow/models/m%1.gguf").arg(i), 8);
  EXPECT_EQ(found().size(), kMostFoundModels);
  InterruptSource end;
  end.request_cancel();
  EXPECT_THROW(findModels(folders(), end.token()), Interrupted);
}

TEST_F(FoundModels, TheFinderTellsWhatHasChanged) {
  ModelFinder finder(folders());
  int told = 0;
  QObject::connect(&finder, &ModelFinder::changed, [&told] { ++told; });
  gguf(QStringLiteral("winnow/models/one.gguf"));
  finder.look();
  EXPECT_TRUE(finder.models().empty()) << "nobody waits for it";
  ASSERT_TRUE(waitUntil([&] { return told == 1; }));
  ASSERT_EQ(finder.models().size(), 1U);
  EXPECT_NE(finder.find(at(QStringLiteral("winnow/models/one.gguf"))), nullptr);
  EXPECT_EQ(finder.find(QStringLiteral("/elsewhere")), nullptr);
  gguf(QStringLiteral("winnow/models/two.gguf"));
  finder.look();
  ASSERT_TRUE(waitUntil([&] { return finder.models().size() == 2; }));
}

TEST(ModelNames, ComeFromThePlace) {
  EXPECT_EQ(modelNameOf(QStringLiteral("/m/SmolLM2-135M-Instruct.Q4_1.gguf")), QStringLiteral("SmolLM2-135M-Instruct.Q4_1"));
  EXPECT_EQ(modelNameOf(QStringLiteral("/m/big-00001-of-00003.gguf")), QStringLiteral("big"));
  EXPECT_EQ(modelNameOf(QStringLiteral("/hub/models--llava-hf--llava-onevision/snapshots/0123/")),
            QStringLiteral("llava-hf/llava-onevision"));
  EXPECT_EQ(modelNameOf(QStringLiteral("/m/a-folder/")), QStringLiteral("a-folder"));
  EXPECT_EQ(modelNameOf(QStringLiteral("/snapshots/x")), QStringLiteral("x"));
}

}  // namespace
}  // namespace winnow::app
