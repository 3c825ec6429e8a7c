// Models of a made-up home: verified by the hashes that their names are, and moved to a made-up trash.
#include "app/library/models/model_care.h"

#include <gtest/gtest.h>

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "app/library/models/model_uses.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

class ModelCare : public ::testing::Test {
 protected:
  QString at(const QString& path) const { return QString::fromStdString(scratch.path()) + QLatin1Char('/') + path; }
  void write(const QString& path, const QByteArray& bytes) {
    QDir().mkpath(QFileInfo(at(path)).path());
    QFile file(at(path));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(bytes);
  }
  // A blob and its link, as the hub's cache has them.
  void blob(const QString& snapshotFile, const QByteArray& bytes) {
    const QString hash = QString::fromLatin1(QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex());
    write(QStringLiteral("models--a--b/blobs/") + hash, bytes);
    const QString link = at(QStringLiteral("models--a--b/snapshots/c0ffee/") + snapshotFile);
    QDir().mkpath(QFileInfo(link).path());
    ASSERT_TRUE(QFile::link(QStringLiteral("../../blobs/") + hash, link));
  }
  FoundModel model(const QString& path, ModelOrigin origin = ModelOrigin::kHuggingFace) const {
    return {origin, QStringLiteral("a/b"), at(path), 0, false, false};
  }
  std::vector<VerifiedFile::State> states(const FoundModel& found) {
    std::vector<VerifiedFile::State> all;
    for (const VerifiedFile& file : verifyModel(found, {}, [](qint64 done, qint64 total) { EXPECT_LE(done, total); }))
      all.push_back(file.state);
    return all;
  }
  // Into a folder of the test's.
  MoveToTrash trash() {
    return [this](const QString& path) {
      QDir().mkpath(at(QStringLiteral("trash")));
      return QDir().rename(path, at(QStringLiteral("trash/") + QFileInfo(path).fileName()));
    };
  }
  QStringList left(const QString& folder) const {
    return QDir(at(folder)).entryList(QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot, QDir::Name);
  }

  test::ScratchFolder scratch;
};

const QString kSnapshot = QStringLiteral("models--a--b/snapshots/c0ffee/");

TEST_F(ModelCare, AHubsFilesAreVerifiedByTheirBlobsNames) {
  blob(QStringLiteral("M-Q8_0.gguf"), "GGUF model");
  blob(QStringLiteral("mmproj-F16.gguf"), "GGUF eyes");
  const FoundModel found = model(kSnapshot + QStringLiteral("M-Q8_0.gguf"));
  EXPECT_EQ(states(found), (std::vector{VerifiedFile::State::kRight, VerifiedFile::State::kRight}));
  QFile damaged(QFileInfo(found.path).canonicalFilePath());
  ASSERT_TRUE(damaged.open(QIODevice::ReadWrite));
  damaged.write("X");
  damaged.close();
  EXPECT_EQ(states(found), (std::vector{VerifiedFile::State::kDamaged, VerifiedFile::State::kRight}));
}

TEST_F(ModelCare, AFileWithoutAKnownHashSaysSo) {
  write(QStringLiteral("lm/M.gguf"), "GGUF model");
  EXPECT_EQ(states(model(QStringLiteral("lm/M.gguf"), ModelOrigin::kLmStudio)), std::vector{VerifiedFile::State::kNoHash});
}

TEST_F(ModelCare, ASpeechModelIsVerifiedByTheHashesOfItsOffer) {
  write(QStringLiteral("models/whisper-tiny.en/config.json"), "{}");
  write(QStringLiteral("models/whisper-tiny.en/config.json.checked"), "a stamp");
  write(QStringLiteral("models/whisper/config.json"), "{}");
  EXPECT_EQ(states(model(QStringLiteral("models/whisper-tiny.en"), ModelOrigin::kWinnow)), std::vector{VerifiedFile::State::kDamaged});
  EXPECT_EQ(states(model(QStringLiteral("models/whisper"), ModelOrigin::kWinnow)), std::vector{VerifiedFile::State::kNoHash});
}

TEST_F(ModelCare, OneOfTwoQuantisationsLeavesTheOtherAndTheEyes) {
  blob(QStringLiteral("M-Q8_0.gguf"), "GGUF eight");
  blob(QStringLiteral("M-Q4_0.gguf"), "GGUF four");
  blob(QStringLiteral("mmproj-F16.gguf"), "GGUF eyes");
  const RemovedModel removed = removeModel(model(kSnapshot + QStringLiteral("M-Q8_0.gguf")), trash());
  EXPECT_EQ(removed.state, RemovedModel::State::kRemoved);
  EXPECT_EQ(removed.bytes, 10);
  EXPECT_EQ(left(kSnapshot), (QStringList{QStringLiteral("M-Q4_0.gguf"), QStringLiteral("mmproj-F16.gguf")}))
      << "no link that leads to nothing";
  EXPECT_EQ(left(QStringLiteral("models--a--b/blobs")).size(), 2);
  EXPECT_EQ(removeModel(model(kSnapshot + QStringLiteral("M-Q4_0.gguf")), trash()).state, RemovedModel::State::kRemoved);
  EXPECT_FALSE(QFileInfo::exists(at(QStringLiteral("models--a--b")))) << "the last one takes the repository with it";
}

TEST_F(ModelCare, AFoldersRepositoryGoesAsAWhole) {
  blob(QStringLiteral("config.json"), "{}");
  blob(QStringLiteral("model.safetensors"), "weights");
  EXPECT_EQ(removeModel(model(QStringLiteral("models--a--b/snapshots/c0ffee")), trash()).bytes, 9);
  EXPECT_EQ(left(QStringLiteral("trash")), QStringList{QStringLiteral("models--a--b")});
}

TEST_F(ModelCare, AllPartsOfASplitFileGo) {
  write(QStringLiteral("lm/M-00001-of-00002.gguf"), "GGUF 1");
  write(QStringLiteral("lm/M-00002-of-00002.gguf"), "GGUF 2");
  write(QStringLiteral("lm/Other.gguf"), "GGUF 3");
  EXPECT_EQ(modelFiles(model(QStringLiteral("lm/M-00001-of-00002.gguf"))).size(), 2);
  removeModel(model(QStringLiteral("lm/M-00001-of-00002.gguf"), ModelOrigin::kLmStudio), trash());
  EXPECT_EQ(left(QStringLiteral("lm")), QStringList{QStringLiteral("Other.gguf")});
}

TEST_F(ModelCare, ANameWithSignsOfAPatternIsAName) {
  write(QStringLiteral("lm/M[1]*-00001-of-00002.gguf"), "GGUF 1");
  write(QStringLiteral("lm/M[1]*-00002-of-00002.gguf"), "GGUF 2");
  write(QStringLiteral("lm/M1x-00001-of-00002.gguf"), "GGUF 3");
  removeModel(model(QStringLiteral("lm/M[1]*-00001-of-00002.gguf"), ModelOrigin::kLmStudio), trash());
  EXPECT_EQ(left(QStringLiteral("lm")), QStringList{QStringLiteral("M1x-00001-of-00002.gguf")});
}

TEST_F(ModelCare, OllamasFilesAreLeftToOllama) {
  write(QStringLiteral("blobs/sha256-x"), "GGUF");
  EXPECT_EQ(removeModel(model(QStringLiteral("blobs/sha256-x"), ModelOrigin::kOllama), trash()).state, RemovedModel::State::kNotOurs);
  EXPECT_TRUE(QFileInfo::exists(at(QStringLiteral("blobs/sha256-x"))));
}

TEST_F(ModelCare, WithoutATrashNothingIsDeleted) {
  blob(QStringLiteral("M-Q8_0.gguf"), "GGUF eight");
  const RemovedModel removed = removeModel(model(kSnapshot + QStringLiteral("M-Q8_0.gguf")), [](const QString&) { return false; });
  EXPECT_EQ(removed.state, RemovedModel::State::kNotPossible);
  EXPECT_EQ(removed.path, at(QStringLiteral("models--a--b")));
  EXPECT_EQ(left(kSnapshot).size(), 1);
}

TEST_F(ModelCare, UsesAreRememberedAndDamageIsNever) {
  const QString data = at(QStringLiteral("data"));
  EXPECT_TRUE(modelUses(data).isEmpty());
  const QDateTime when = QDateTime::fromMSecsSinceEpoch(1'790'000'000'000);
  noteModelUse(data, QStringLiteral("/models/M.gguf"), when);
  noteModelUse(data, QStringLiteral("/models/N.gguf"), when.addDays(1));
  EXPECT_EQ(modelUses(data).value(QStringLiteral("/models/M.gguf")), when);
  EXPECT_EQ(modelUses(data).size(), 2);
  write(QStringLiteral("data/models-used.json"), "{\"/models/M.gguf\": \"yesterday\", ");
  EXPECT_TRUE(modelUses(data).isEmpty());
}

}  // namespace
}  // namespace winnow::app
