// A source is read clip by clip on another thread: in order, never more than one ahead, and left at any time.
#include "app/media/live/live_watch.h"

#include <gtest/gtest.h>

#include <QStringList>
#include <optional>

#include "tests/support/scripted_clips.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

using test::ScriptedClips;
using test::waitUntil;

class LiveWatchTest : public testing::Test {
 protected:
  LiveWatchTest() {
    QObject::connect(&watch, &LiveWatch::noticed, &watch,
                     [this](const MediaNotice& notice) { said << QStringLiteral("noticed: %1").arg(notice.amount); });
    QObject::connect(&watch, &LiveWatch::ended, &watch, [this](const QString& because) { said << QStringLiteral("ended: ") + because; });
    QObject::connect(&watch, &LiveWatch::failed, &watch, [this](const Error& error) { fault = error; });
  }
  bool clipWaits() {
    return waitUntil([this] { return watch.hasClip(); });
  }
  // First and last asked_s of the clip that waits.
  std::pair<double, double> taken() {
    const std::vector<SampledFrame> clip = watch.takeClip();
    return clip.empty() ? std::pair(-1.0, -1.0) : std::pair(clip.front().asked_s, clip.back().asked_s);
  }
  // Long enough for a reader that goes on to be seen doing so.
  void settle() {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    QCoreApplication::processEvents();
  }

  ScriptedClips clips;  // outlives the watch, whose thread uses it
  QStringList said;
  std::optional<Error> fault;
  LiveWatch watch{clips.factory()};
};

TEST_F(LiveWatchTest, ClipsComeInOrderAndAreNoLargerThanAskedFor) {
  WatchRequest request{.address = "/dev/video7"};
  for (const int frames : {8, 8, 3}) clips.giveFrames(frames);
  watch.start(request);
  ASSERT_TRUE(clipWaits());
  EXPECT_EQ(taken(), std::pair(0.0, 3.5));
  ASSERT_TRUE(clipWaits());
  EXPECT_EQ(taken(), std::pair(4.0, 7.5));
  ASSERT_TRUE(clipWaits());
  EXPECT_EQ(taken(), std::pair(8.0, 9.0));
  for (const int most : clips.most()) EXPECT_EQ(most, LiveWatch::kClipFrames);
  ASSERT_EQ(clips.requests().size(), 1U) << "opened once";
  EXPECT_EQ(clips.requests().front().address, "/dev/video7");
}

TEST_F(LiveWatchTest, OnlyOneClipWaitsHoweverManyThereAre) {
  for (int i = 0; i < 5; ++i) clips.giveFrames(8);
  watch.start({});
  ASSERT_TRUE(clipWaits());
  settle();
  EXPECT_EQ(clips.asked(), 1) << "the second is read when the first was taken";
  taken();
  ASSERT_TRUE(clipWaits());
  settle();
  EXPECT_EQ(clips.asked(), 2);
}

TEST_F(LiveWatchTest, TheNextClipIsReadWhileOneIsWorkedOn) {
  clips.giveFrames(8);
  watch.start({});
  ASSERT_TRUE(clipWaits());
  taken();
  EXPECT_TRUE(waitUntil([this] { return clips.asked() == 2; }));
  EXPECT_TRUE(watch.reading());
}

TEST_F(LiveWatchTest, StoppedWhileItWaitsItTellsNothingAndLetsTheSourceGo) {
  watch.start({});
  ASSERT_TRUE(waitUntil([this] { return clips.asked() == 1; }));
  watch.stop();
  EXPECT_FALSE(watch.reading());
  EXPECT_TRUE(waitUntil([this] { return clips.closed() == 1; }));
  settle();
  EXPECT_TRUE(said.isEmpty());
  EXPECT_FALSE(fault);
}

TEST_F(LiveWatchTest, AClipThatWaitsIsGoneAfterStop) {
  clips.giveFrames(8);
  watch.start({});
  ASSERT_TRUE(clipWaits());
  watch.stop();
  EXPECT_FALSE(watch.hasClip());
  EXPECT_TRUE(watch.takeClip().empty());
}

TEST_F(LiveWatchTest, BegunAnewItOpensTheOtherSource) {
  watch.start({WatchRequest::Kind::kCamera, "first"});
  ASSERT_TRUE(waitUntil([this] { return clips.asked() == 1; }));
  watch.start({WatchRequest::Kind::kScreen, "second"});
  clips.giveFrames(2);
  ASSERT_TRUE(clipWaits());
  ASSERT_EQ(clips.requests().size(), 2U);
  EXPECT_EQ(clips.requests()[1].address, "second");
  EXPECT_EQ(clips.closed(), 1) << "two readers at once could want the same camera";
}

TEST_F(LiveWatchTest, PausedNothingIsReadUntilItGoesOn) {
  clips.giveFrames(8);
  clips.giveFrames(8);
  watch.start({});
  ASSERT_TRUE(clipWaits());
  watch.setPaused(true);
  taken();
  settle();
  EXPECT_EQ(clips.asked(), 1);
  EXPECT_TRUE(watch.reading());
  watch.setPaused(false);
  ASSERT_TRUE(clipWaits());
  EXPECT_EQ(taken(), std::pair(4.0, 7.5));
}

TEST_F(LiveWatchTest, CatchingUpItGivesWhatHasCome) {
  int caughtUp = 0;
  QObject::connect(&watch, &LiveWatch::caughtUp, &watch, [&] { ++caughtUp; });
  watch.start({});
  clips.beginClip(3);
  ASSERT_TRUE(waitUntil([this] { return clips.asked() == 1; }));
  settle();
  EXPECT_FALSE(watch.hasClip()) << "three frames are no clip yet";
  watch.catchUp();
  ASSERT_TRUE(waitUntil([&] { return caughtUp == 1; }));
  EXPECT_EQ(taken(), std::pair(0.0, 1.0));
  clips.giveFrames(8);
  ASSERT_TRUE(clipWaits()) << "it goes on from there";
  EXPECT_EQ(taken(), std::pair(1.5, 5.0));
  EXPECT_EQ(clips.opened(), 1);
}

TEST_F(LiveWatchTest, NothingToCatchUpWithIsSaidAtOnce) {
  int caughtUp = 0;
  QObject::connect(&watch, &LiveWatch::caughtUp, &watch, [&] { ++caughtUp; });
  watch.catchUp();
  EXPECT_EQ(caughtUp, 1) << "nothing is read";
  clips.giveFrames(8);
  watch.start({});
  ASSERT_TRUE(clipWaits());
  watch.catchUp();
  EXPECT_EQ(caughtUp, 2) << "the clip waits already";
  taken();
  ASSERT_TRUE(waitUntil([this] { return clips.asked() == 2; }));
  watch.catchUp();
  ASSERT_TRUE(waitUntil([&] { return caughtUp == 3; }));
  EXPECT_FALSE(watch.hasClip()) << "nothing had come";
  EXPECT_TRUE(watch.reading());
  EXPECT_TRUE(waitUntil([this] { return clips.asked() == 3; }));
}

TEST_F(LiveWatchTest, TheEndComesWithTheLastFramesAndWhatWasSaid) {
  ClipReader::Clip last;
  last.frames.resize(3);
  last.ended = true;
  last.endedBecause = "the file does not grow any more";
  last.notices = {{NoticeCode::kFramesMissed, 2}};
  clips.give(last);
  watch.start({});
  ASSERT_TRUE(waitUntil([this] { return said.size() == 2; }));
  EXPECT_EQ(said, (QStringList{QStringLiteral("noticed: 2"), QStringLiteral("ended: the file does not grow any more")}));
  EXPECT_FALSE(watch.reading());
  EXPECT_EQ(watch.takeClip().size(), 3U);
  EXPECT_TRUE(waitUntil([this] { return clips.closed() == 1; }));
  EXPECT_EQ(clips.asked(), 1);
}

TEST_F(LiveWatchTest, ANoticeWithoutFramesIsNoEnd) {
  ClipReader::Clip notice{.notices = {{NoticeCode::kSizeChanged, 640, 480}}};
  clips.give(notice);
  clips.giveFrames(8);
  watch.start({});
  ASSERT_TRUE(clipWaits());
  EXPECT_EQ(said, (QStringList{QStringLiteral("noticed: 640")}));
  EXPECT_EQ(clips.asked(), 2);
}

TEST_F(LiveWatchTest, AFaultIsToldAfterWhatWasReadBefore) {
  clips.giveFrames(8);
  clips.fail({ErrorCode::kDamagedFile, "/dev/video0", "no key frame"});
  watch.start({});
  ASSERT_TRUE(clipWaits());
  EXPECT_FALSE(fault);
  taken();
  ASSERT_TRUE(waitUntil([this] { return fault.has_value(); }));
  EXPECT_EQ(fault->code, ErrorCode::kDamagedFile);
  EXPECT_FALSE(watch.reading());
}

TEST(LiveWatch, ASourceThatCannotBeOpenedSaysWhy) {
  LiveWatch watch([](const WatchRequest&, const InterruptToken&) -> std::unique_ptr<ClipReader> {
    throw Exception(ErrorCode::kFileNotFound, "/dev/video9", "no such device");
  });
  std::optional<Error> fault;
  QObject::connect(&watch, &LiveWatch::failed, &watch, [&](const Error& error) { fault = error; });
  watch.start({});
  ASSERT_TRUE(waitUntil([&] { return fault.has_value(); }));
  EXPECT_EQ(fault->code, ErrorCode::kFileNotFound);
  EXPECT_EQ(fault->subject, "/dev/video9");
}

TEST(LiveWatch, EndsWithItsOwnerWhileASourceIsSilent) {
  ScriptedClips clips;
  {
    LiveWatch watch(clips.factory());
    watch.start({});
    ASSERT_TRUE(waitUntil([&] { return clips.asked() == 1; }));
  }
  EXPECT_EQ(clips.opened(), 1);
  EXPECT_EQ(clips.closed(), 1);
}

}  // namespace
}  // namespace winnow::app
