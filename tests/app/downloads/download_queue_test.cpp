// Downloads in a queue, each scripted: two at once, paused, taken up, given up, and what is known of them meanwhile.
#include "app/downloads/download_queue.h"

#include <gtest/gtest.h>

#include <QHash>
#include <QPointer>
#include <QSignalSpy>

#include "app/downloads/unfinished_downloads.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/scripted_download.h"

namespace winnow::app {
namespace {

using State = QueuedDownload::State;

class DownloadQueueTest : public ::testing::Test {
 protected:
  void add(const QString& key) {
    queue.add(key, key.toUpper(), [this, key]() -> std::unique_ptr<ModelDownload> {
      auto download = std::make_unique<test::ScriptedDownload>();
      running[key] = download.get();
      ++made[key];
      return download;
    });
  }
  State state(const QString& key) { return queue.find(key)->state; }
  void tell(const QString& key, qint64 done, qint64 total) { Q_EMIT running[key]->progressed({DownloadStage::kDownloading, done, total}); }

  QHash<QString, QPointer<test::ScriptedDownload>> running;
  QHash<QString, int> made;
  DownloadQueue queue;
};

const QString kA = QStringLiteral("a");
const QString kB = QStringLiteral("b");
const QString kC = QStringLiteral("c");

TEST_F(DownloadQueueTest, TwoRunAndTheThirdWaitsForOneToEnd) {
  QSignalSpy finished(&queue, &DownloadQueue::finished);
  add(kA);
  add(kB);
  add(kC);
  EXPECT_EQ(running[kA]->starts, 1);
  EXPECT_EQ(state(kB), State::kRunning);
  EXPECT_EQ(state(kC), State::kWaiting);
  EXPECT_FALSE(made.contains(kC)) << "nothing asks the network before its turn";
  Q_EMIT running[kA]->finished(QStringLiteral("/models/a.gguf"));
  EXPECT_EQ(state(kC), State::kRunning);
  EXPECT_EQ(state(kA), State::kHere);
  EXPECT_EQ(queue.find(kA)->file, QStringLiteral("/models/a.gguf"));
  ASSERT_EQ(finished.size(), 1);
  EXPECT_EQ(finished.front().front().toString(), kA);
}

TEST_F(DownloadQueueTest, APausedOneLeavesItsPlaceAndTakesATurnAgain) {
  add(kA);
  add(kB);
  add(kC);
  tell(kA, 300, 1000);
  queue.pause(kA);
  EXPECT_EQ(state(kA), State::kPaused);
  EXPECT_TRUE(running[kA].isNull()) << "it is given up; what has come lies on the disk";
  EXPECT_EQ(state(kC), State::kRunning);
  EXPECT_EQ(queue.find(kA)->come, 300);
  queue.resume(kA);
  EXPECT_EQ(state(kA), State::kWaiting);
  queue.remove(kB);
  EXPECT_EQ(state(kA), State::kRunning);
  EXPECT_EQ(made[kA], 2);
  EXPECT_EQ(queue.downloads().size(), 2u);
}

TEST_F(DownloadQueueTest, AWaitingOneIsPausedAndRemovedWithoutEverStarting) {
  add(kA);
  add(kB);
  add(kC);
  queue.pause(kC);
  EXPECT_EQ(state(kC), State::kPaused);
  queue.remove(kC);
  EXPECT_FALSE(queue.find(kC));
  EXPECT_FALSE(made.contains(kC));
}

TEST_F(DownloadQueueTest, AFailedOneSaysWhyAndIsTriedAgain) {
  QSignalSpy failed(&queue, &DownloadQueue::failed);
  add(kA);
  tell(kA, 500, 1000);
  Q_EMIT running[kA]->failed({DownloadProblem::kNoNetwork, QStringLiteral("hub.example")});
  EXPECT_EQ(state(kA), State::kFailed);
  EXPECT_EQ(queue.find(kA)->fault.problem, DownloadProblem::kNoNetwork);
  EXPECT_EQ(queue.find(kA)->come, 500) << "it goes on from there";
  EXPECT_EQ(failed.size(), 1);
  add(kA);  // as the first screen does
  EXPECT_EQ(state(kA), State::kRunning);
  EXPECT_EQ(queue.downloads().size(), 1u);
  Q_EMIT running[kA]->failed({DownloadProblem::kHashDiffers});
  EXPECT_EQ(queue.find(kA)->come, 0) << "what has come was removed";
}

TEST_F(DownloadQueueTest, OneOfAnEarlierStartAsksNobodyBeforeItIsResumed) {
  queue.addPaused(kA, kA, [this]() -> std::unique_ptr<ModelDownload> {
    ++made[kA];
    return std::make_unique<test::ScriptedDownload>();
  });
  EXPECT_EQ(state(kA), State::kPaused);
  EXPECT_FALSE(made.contains(kA));
  queue.resume(kA);
  EXPECT_EQ(made[kA], 1);
}

TEST(UnfinishedDownloads, AreReadAsTheyWereWrittenAndDamageIsNone) {
  const test::ScratchFolder scratch;
  const QString data = QString::fromStdString(scratch.file("data"));
  EXPECT_TRUE(unfinishedDownloads(data).isEmpty());
  const QStringList names{QStringLiteral("owner/name"), QStringLiteral("owner/other:Q8_0")};
  noteUnfinishedDownloads(data, names);
  EXPECT_EQ(unfinishedDownloads(data), names);
  noteUnfinishedDownloads(data, {});
  EXPECT_TRUE(unfinishedDownloads(data).isEmpty());
  QFile damaged(data + QStringLiteral("/downloads.json"));
  ASSERT_TRUE(damaged.open(QIODevice::WriteOnly));
  damaged.write("[\"owner/name\", 7, {\"a\": ");
  damaged.close();
  EXPECT_TRUE(unfinishedDownloads(data).isEmpty());
}

}  // namespace
}  // namespace winnow::app
