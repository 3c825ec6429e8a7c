// Downloads in a queue, each scripted: two at once, paused, taken up, given up, and what is known of them meanwhile.
#include "app/library/downloads/download_queue.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QHash>
#include <QPointer>
#include <QSignalSpy>

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
  // The hub knows it and begins to send it, out of its turn.
  void lookUp(const QString& key) {
    tell(key, 0, 1000);
    tell(key, 1, 1000);
    QCoreApplication::processEvents();
  }
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
  lookUp(kC);
  EXPECT_EQ(state(kC), State::kWaiting);
  EXPECT_TRUE(running[kC].isNull()) << "what it has begun is left to its turn";
  EXPECT_EQ(queue.find(kC)->toCome, 1000);
  Q_EMIT running[kA]->finished(QStringLiteral("/models/a.gguf"));
  EXPECT_EQ(state(kC), State::kRunning);
  EXPECT_EQ(made[kC], 2);
  EXPECT_EQ(state(kA), State::kHere);
  EXPECT_EQ(queue.find(kA)->file, QStringLiteral("/models/a.gguf"));
  ASSERT_EQ(finished.size(), 1);
  EXPECT_EQ(finished.front().front().toString(), kA);
}

TEST_F(DownloadQueueTest, APausedOneLeavesItsPlaceAndTakesATurnAgain) {
  add(kA);
  add(kB);
  add(kC);
  lookUp(kC);
  tell(kA, 300, 1000);
  queue.pause(kA);
  EXPECT_EQ(state(kA), State::kPaused);
  EXPECT_TRUE(running[kA].isNull()) << "it is given up; what has come lies on the disk";
  EXPECT_EQ(state(kC), State::kRunning);
  EXPECT_EQ(queue.find(kA)->come, 300);
  queue.resume(kA);
  tell(kA, 300, 1000);
  tell(kA, 310, 1000);
  QCoreApplication::processEvents();
  EXPECT_EQ(state(kA), State::kWaiting);
  queue.remove(kB);
  EXPECT_EQ(state(kA), State::kRunning);
  EXPECT_EQ(made[kA], 3);
  EXPECT_EQ(queue.downloads().size(), 2u);
}

TEST_F(DownloadQueueTest, AWaitingOneIsPausedAndRemoved) {
  add(kA);
  add(kB);
  add(kC);
  lookUp(kC);
  queue.pause(kC);
  EXPECT_EQ(state(kC), State::kPaused);
  queue.remove(kC);
  EXPECT_FALSE(queue.find(kC));
  EXPECT_EQ(made[kC], 1);
}

// A mistyped name waited behind two downloads before anybody said that there is no such model.
TEST_F(DownloadQueueTest, ANameThatDoesNotExistIsRefusedWhileOthersCome) {
  add(kA);
  add(kB);
  tell(kA, 10, 1000);
  tell(kB, 10, 1000);
  add(kC);
  ASSERT_FALSE(running[kC].isNull());
  Q_EMIT running[kC]->failed({DownloadProblem::kNoSuchModel, kC});
  EXPECT_EQ(state(kC), State::kFailed);
  EXPECT_EQ(state(kA), State::kRunning);
  EXPECT_EQ(state(kB), State::kRunning);
  queue.resume(kC);
  EXPECT_EQ(made[kC], 2) << "it may have been made meanwhile";
}

TEST_F(DownloadQueueTest, OneWhoseTurnComesWhileItIsLookedUpGoesOn) {
  add(kA);
  add(kB);
  add(kC);
  tell(kC, 0, 1000);
  Q_EMIT running[kA]->finished(QStringLiteral("/models/a.gguf"));
  tell(kC, 500, 1000);
  QCoreApplication::processEvents();
  EXPECT_EQ(state(kC), State::kRunning);
  EXPECT_EQ(made[kC], 1);
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
  QueuedDownload saved{.key = kA, .name = kA, .come = 70, .toCome = 98};
  const auto make = [this]() -> std::unique_ptr<ModelDownload> {
    ++made[kA];
    return std::make_unique<test::ScriptedDownload>();
  };
  queue.restore(saved, make);
  EXPECT_EQ(state(kA), State::kPaused);
  EXPECT_EQ(queue.find(kA)->come, 70);
  EXPECT_FALSE(made.contains(kA));
  saved.key = kB;
  saved.state = State::kFailed;
  saved.fault.problem = DownloadProblem::kGated;
  queue.restore(saved, make);
  EXPECT_EQ(queue.find(kB)->fault.problem, DownloadProblem::kGated) << "it is still told why";
  queue.resume(kA);
  EXPECT_EQ(made[kA], 1);
}

TEST(UnfinishedDownloads, AreReadAsTheyWereWrittenAndDamageIsNone) {
  const test::ScratchFolder scratch;
  const QString data = QString::fromStdString(scratch.file("data"));
  EXPECT_TRUE(unfinishedDownloads(data).empty());
  QueuedDownload paused{.key = QStringLiteral("owner/name"), .toCome = 98'000'000};
  QueuedDownload failed;
  failed.key = QStringLiteral("owner/other:Q8_0");
  failed.state = State::kFailed;
  failed.fault = {DownloadProblem::kNoSuchModel, QStringLiteral("owner/other"), QStringLiteral("no token was sent")};
  failed.fault.status = 401;
  noteUnfinishedDownloads(data, {paused, failed});
  const std::vector<QueuedDownload> read = unfinishedDownloads(data);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].key, paused.key);
  EXPECT_EQ(read[0].state, State::kPaused);
  EXPECT_EQ(read[0].toCome, 98'000'000);
  EXPECT_EQ(read[1].state, State::kFailed);
  EXPECT_EQ(read[1].fault.problem, DownloadProblem::kNoSuchModel);
  EXPECT_EQ(read[1].fault.subject, failed.fault.subject);
  EXPECT_EQ(read[1].fault.reason, failed.fault.reason);
  EXPECT_EQ(read[1].fault.status, 401);
  noteUnfinishedDownloads(data, {});
  EXPECT_TRUE(unfinishedDownloads(data).empty());
  QFile earlier(data + QStringLiteral("/downloads.json"));
  ASSERT_TRUE(earlier.open(QIODevice::WriteOnly));
  earlier.write("[\"owner/name\"]");
  earlier.close();
  ASSERT_EQ(unfinishedDownloads(data).size(), 1u) << "as earlier versions wrote it";
  EXPECT_EQ(unfinishedDownloads(data)[0].key, QStringLiteral("owner/name"));
  QFile damaged(data + QStringLiteral("/downloads.json"));
  ASSERT_TRUE(damaged.open(QIODevice::WriteOnly));
  damaged.write("[\"owner/name\", 7, {\"a\": ");
  damaged.close();
  EXPECT_TRUE(unfinishedDownloads(data).empty());
}

}  // namespace
}  // namespace winnow::app
