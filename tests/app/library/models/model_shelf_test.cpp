// The shelf of a made-up home: listed, checked and emptied on threads of its own.
#include "app/library/models/model_shelf.h"

#include <gtest/gtest.h>

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "app/library/downloads/model_folder.h"
#include "app/library/models/model_uses.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

using test::waitUntil;

class ModelShelfTest : public ::testing::Test {
 protected:
  void SetUp() override {
    QDir().mkpath(at(QStringLiteral("models/hub/models--a--b/blobs")));
    ASSERT_TRUE(QFile::link(QString::fromStdString(source_folder()) + QStringLiteral("/resources/demo/model"), demo()));
    QFile file(at(QStringLiteral("models/damaged.gguf")));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("GGUF and nothing else");
    shelf = std::make_unique<ModelShelf>(ModelPlaces{{{ModelOrigin::kWinnow, at(QStringLiteral("models"))}},
                                                     at(QStringLiteral("data")),
                                                     {.bytes = qint64{8} << 30},
                                                     [this](const QString& path) { return trash && QFile::remove(path); }});
  }
  QString at(const QString& path) const { return QString::fromStdString(scratch.path()) + QLatin1Char('/') + path; }
  QString demo() const { return at(QStringLiteral("models/shapes")); }
  const ListedModel* listed(const QString& path) const {
    const auto found = std::ranges::find_if(shelf->models(), [&](const ListedModel& model) { return model.found.path == path; });
    return found != shelf->models().end() ? &*found : nullptr;
  }
  bool look() {
    bool done = false;
    const auto link = QObject::connect(shelf.get(), &ModelShelf::listed, [&done] { done = true; });
    shelf->look();
    const bool seen = waitUntil([&done] { return done; });
    QObject::disconnect(link);
    return seen;
  }

  test::ScratchFolder scratch;
  bool trash = true;
  std::unique_ptr<ModelShelf> shelf;
};

TEST_F(ModelShelfTest, ListsWhatAModelIsAndWhyOneCannotBeRead) {
  const QDateTime when = QDateTime::fromMSecsSinceEpoch(1'790'000'000'000);
  noteModelUse(at(QStringLiteral("data")), demo(), when);
  EXPECT_FALSE(shelf->hasLooked());
  ASSERT_TRUE(look());
  EXPECT_TRUE(shelf->hasLooked());
  const ListedModel* model = listed(demo());
  ASSERT_NE(model, nullptr);
  ASSERT_TRUE(model->summary);
  EXPECT_TRUE(model->summary->reads_videos);
  EXPECT_GT(model->need.cache, 0);
  EXPECT_EQ(modelFit(model->need, shelf->memory()), ModelFit::kMemory);
  EXPECT_EQ(model->used, when);
  const ListedModel* damaged = listed(at(QStringLiteral("models/damaged.gguf")));
  ASSERT_NE(damaged, nullptr);
  EXPECT_FALSE(damaged->summary);
  EXPECT_FALSE(damaged->fault.empty());
}

// What is opened by its path lies in no folder that is looked into.
TEST_F(ModelShelfTest, WhatIsOpenedFromElsewhereIsListedOnce) {
  const QString elsewhere = at(QStringLiteral("mine"));
  ASSERT_TRUE(QFile::link(QString::fromStdString(source_folder()) + QStringLiteral("/resources/demo/model"), elsewhere));
  ASSERT_TRUE(QFile::remove(demo()));
  shelf->setOpened({{ModelOrigin::kOpened, elsewhere},
                    {ModelOrigin::kOpened, at(QStringLiteral("gone.gguf"))},
                    {ModelOrigin::kOpened, at(QStringLiteral("models/damaged.gguf"))},
                    {ModelOrigin::kDemo, elsewhere}});
  ASSERT_TRUE(look());
  ASSERT_EQ(shelf->models().size(), 2u) << "one gone, one found already, one twice";
  const ListedModel* model = listed(elsewhere);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->found.origin, ModelOrigin::kOpened);
  EXPECT_EQ(model->found.name, QStringLiteral("mine"));
  EXPECT_TRUE(model->summary.has_value());
  EXPECT_GT(model->found.bytes, 1'000'000);
}

TEST_F(ModelShelfTest, WhatItMeasuresIsToldWithTheMemory) {
  EXPECT_TRUE(shelf->isMeasured()) << "nobody measures";
  ModelPlaces places{{}, at(QStringLiteral("data")), {.bytes = qint64{8} << 30}, {}, [] { return 20e9; }};
  shelf = std::make_unique<ModelShelf>(places);
  EXPECT_FALSE(shelf->isMeasured());
  bool told = false;
  QObject::connect(shelf.get(), &ModelShelf::memoryChanged, [&told] { told = true; });
  ASSERT_TRUE(waitUntil([&told] { return told; }));
  EXPECT_TRUE(shelf->isMeasured());
  EXPECT_EQ(shelf->memory().bytesPerSecond, 20e9);
}

TEST_F(ModelShelfTest, AGpuThatIsFoundLaterIsToldOnce) {
  ASSERT_TRUE(look());
  int told = 0;
  QObject::connect(shelf.get(), &ModelShelf::memoryChanged, [&told] { ++told; });
  shelf->setGpuBytes(qint64{8} << 30);
  shelf->setGpuBytes(qint64{8} << 30);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(modelFit(listed(demo())->need, shelf->memory()), ModelFit::kGpu);
}

TEST_F(ModelShelfTest, ChecksOneModelAtATime) {
  ASSERT_TRUE(look());
  QString checked;
  std::vector<VerifiedFile> files;
  QObject::connect(shelf.get(), &ModelShelf::verified, [&](const QString& path, const std::vector<VerifiedFile>& all) {
    checked = path;
    files = all;
  });
  shelf->verify(listed(demo())->found);
  EXPECT_EQ(shelf->verifying(), demo());
  shelf->verify(listed(at(QStringLiteral("models/damaged.gguf")))->found);
  EXPECT_EQ(shelf->verifying(), demo());
  ASSERT_TRUE(waitUntil([&] { return !checked.isEmpty(); }));
  EXPECT_EQ(checked, demo());
  EXPECT_FALSE(files.empty());
  EXPECT_TRUE(shelf->verifying().isEmpty());
}

TEST_F(ModelShelfTest, WhatIsRemovedLeavesTheListAndWhatCannotBeStays) {
  ASSERT_TRUE(look());
  std::vector<RemovedModel::State> told;
  QObject::connect(shelf.get(), &ModelShelf::removed, [&](const QString&, const RemovedModel& result) { told.push_back(result.state); });
  const FoundModel damaged = listed(at(QStringLiteral("models/damaged.gguf")))->found;
  trash = false;
  shelf->remove(damaged);
  ASSERT_TRUE(waitUntil([&] { return told.size() == 1; }));
  EXPECT_EQ(told.back(), RemovedModel::State::kNotPossible);
  ASSERT_TRUE(look());
  EXPECT_NE(listed(damaged.path), nullptr);
  trash = true;
  shelf->remove(damaged);
  ASSERT_TRUE(waitUntil([&] { return told.size() == 2 && listed(damaged.path) == nullptr; })) << "the list follows by itself";
  EXPECT_EQ(told.back(), RemovedModel::State::kRemoved);
}

TEST_F(ModelShelfTest, TheModelThatHearsIsChosenUntilItIsGone) {
  const QString fetched = at(QStringLiteral("data/models/ggml-put.bin")), base = at(QStringLiteral("models/base"));
  ASSERT_TRUE(QDir().mkpath(at(QStringLiteral("data/models"))));
  QFile put(fetched);
  ASSERT_TRUE(put.open(QIODevice::WriteOnly));
  ASSERT_TRUE(QFile::link(QString::fromStdString(source_folder()) + QStringLiteral("/tests/golden/whisper/english"), base));
  ASSERT_TRUE(look());
  EXPECT_EQ(shelf->hearing(), fetched);
  const ListedModel* model = listed(base);
  ASSERT_NE(model, nullptr);
  EXPECT_TRUE(model->fault.empty());
  EXPECT_GT(model->need.weights, 0);
  shelf->hearWith(model->found);
  ASSERT_TRUE(waitUntil([&] { return shelf->hearing() == base; })) << "the list follows by itself";
  EXPECT_EQ(fetchedSpeechModel(at(QStringLiteral("data/models"))), base);
  ASSERT_TRUE(QFile::remove(base));
  ASSERT_TRUE(look());
  EXPECT_EQ(shelf->hearing(), fetched);
}

TEST_F(ModelShelfTest, EndsWhileItLooksAndChecks) {
  ASSERT_TRUE(look());
  shelf->verify(listed(demo())->found);
  shelf->look();
  shelf.reset();
}

}  // namespace
}  // namespace winnow::app
