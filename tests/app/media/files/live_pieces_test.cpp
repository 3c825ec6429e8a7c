// The parts of a live source that need no video: time, sampling, the bounded queue, how an MP4 has to begin.
#include <gtest/gtest.h>

#include <thread>

#include "app/media/files/live/frame_queue.h"
#include "app/media/files/live/live_request.h"
#include "app/media/files/live/stream_clock.h"
#include "app/media/files/live/stream_units.h"
#include "tests/app/media/files/live_senders.h"

namespace winnow::app {
namespace {

TEST(StreamClock, BeginsAtZeroAndFollowsTheStamps) {
  StreamClock clock(0.04);
  EXPECT_DOUBLE_EQ(clock.place(100.0, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(clock.place(100.5, 0.0), 0.5);
  EXPECT_DOUBLE_EQ(clock.place(109.0, 0.0), 9.0);
  EXPECT_EQ(clock.jumps(), 0);
}

// A player's clock: sound may begin before the first picture, and a recording at any hour.
TEST(StreamClock, CountsFromTheBeginningOfTheSource) {
  StreamClock clock(0.04);
  clock.beginAt(3600.0);
  EXPECT_DOUBLE_EQ(clock.place(3601.5, 0.0), 1.5);
  EXPECT_DOUBLE_EQ(clock.place(3602.0, 0.0), 2.0);
  StreamClock far(0.04);
  far.beginAt(0.0);
  EXPECT_DOUBLE_EQ(far.place(95000.0, 0.0), 0.0) << "that is not a beginning";
  EXPECT_DOUBLE_EQ(far.place(95000.5, 0.0), 0.5);
  EXPECT_EQ(far.jumps(), 0);
}

TEST(StreamClock, GoesOnByOneFrameAfterAJumpEitherWay) {
  StreamClock clock(0.04);
  clock.place(100.0, 0.1);
  clock.place(100.1, 0.1);
  EXPECT_NEAR(clock.place(3.0, 0.1), 0.2, 1e-9);
  EXPECT_NEAR(clock.place(3.1, 0.1), 0.3, 1e-9);
  EXPECT_NEAR(clock.place(90000.0, 0.1), 0.4, 1e-9);
  EXPECT_NEAR(clock.place(90000.1, 0.1), 0.5, 1e-9);
  EXPECT_EQ(clock.jumps(), 2);
}

TEST(StreamClock, StampsThatStandStillOrAreMissingCountFrames) {
  StreamClock clock(0.04);
  EXPECT_DOUBLE_EQ(clock.place({}, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(clock.place({}, 0.0), 0.04);
  EXPECT_NEAR(clock.place(7.0, 0.0), 0.08, 1e-9);
  EXPECT_NEAR(clock.place(7.0, 0.0), 0.12, 1e-9);
  EXPECT_EQ(clock.jumps(), 1);
  StreamClock still(0.04);
  double last = -1.0;
  for (int i = 0; i < 1000; ++i) {
    const double time = still.place(5.0, 0.0);
    ASSERT_GT(time, last);
    last = time;
  }
}

TEST(SamplingGrid, WhatComesBeforeTheFirstFrameIsPassedOver) {
  SamplingGrid grid(0.5);
  grid.skipTo(1.4);
  EXPECT_DOUBLE_EQ(grid.nextS(), 1.0);
  grid.skipTo(0.2);
  EXPECT_DOUBLE_EQ(grid.nextS(), 1.0);
}

TEST(SamplingGrid, AFrameIsTakenForEveryTimeThatItIsOnScreen) {
  SamplingGrid grid(0.1);
  EXPECT_TRUE(grid.isDueBefore(0.05));
  grid.advance();
  EXPECT_FALSE(grid.isDueBefore(0.1));
  EXPECT_FALSE(grid.isDueBefore(0.1 + 1e-7));
  EXPECT_TRUE(grid.isDueBefore(0.11));
  for (int i = 0; i < 999; ++i) grid.advance();
  EXPECT_DOUBLE_EQ(grid.nextS(), 100.0);
}

SampledFrame frameOf(double askedS, std::size_t bytes = 3) { return {askedS, askedS, {1, 1, std::vector<std::uint8_t>(bytes)}}; }

TEST(FrameQueue, PassesFramesOverWhenItIsFullAndCountsThem) {
  FrameQueue queue(FrameQueue::WhenFull::kMiss);
  int kept = 0;
  for (int i = 0; i < 100; ++i) {
    if (!queue.wantsFrame()) continue;
    queue.push(frameOf(i));
    ++kept;
  }
  EXPECT_EQ(kept, 64);
  EXPECT_EQ(queue.mostWaiting(), 64u);
  LiveClip clip;
  EXPECT_TRUE(queue.take(clip, 10));
  EXPECT_EQ(clip.notices, (std::vector<MediaNotice>{{NoticeCode::kFramesMissed, 36}}));
  EXPECT_TRUE(queue.wantsFrame());
  LiveClip later;
  EXPECT_TRUE(queue.take(later, 10));
  EXPECT_TRUE(later.notices.empty());
}

TEST(FrameQueue, WaitsWhenItIsFullAndTheSourceCanWait) {
  FrameQueue queue(FrameQueue::WhenFull::kWait);
  std::thread reader([&] {
    for (int i = 0; i < 500; ++i) {
      if (!queue.wantsFrame()) return;
      queue.push(frameOf(i));
    }
    queue.end(LiveEnd::kEndOfStream);
  });
  std::vector<double> seen;
  for (LiveClip clip; !clip.ended();) {
    clip = {};
    while (!queue.take(clip, 7)) queue.wait(std::chrono::milliseconds(20));
    for (const auto& frame : clip.frames) seen.push_back(frame.asked_s);
  }
  reader.join();
  ASSERT_EQ(seen.size(), 500u);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<double>(i));
  EXPECT_LE(queue.mostWaiting(), 64u);
}

TEST(FrameQueue, CloseEndsTheWaitForRoom) {
  FrameQueue queue(FrameQueue::WhenFull::kWait);
  for (int i = 0; i < 64; ++i) queue.push(frameOf(i));
  bool wanted = true;
  std::thread reader([&] { wanted = queue.wantsFrame(); });
  queue.close();
  reader.join();
  EXPECT_FALSE(wanted);
}

TEST(FrameQueue, AnErrorComesAfterTheFramesBeforeIt) {
  FrameQueue queue(FrameQueue::WhenFull::kWait);
  queue.push(frameOf(0.0));
  queue.fail({ErrorCode::kDamagedFile, "a", "b"});
  LiveClip clip;
  EXPECT_TRUE(queue.take(clip, 8));
  EXPECT_EQ(clip.frames.size(), 1u);
  EXPECT_FALSE(clip.ended());
  LiveClip next;
  EXPECT_THROW(queue.take(next, 8), Exception);
}

TEST(FrameQueue, IsBoundedInBytesToo) {
  FrameQueue queue(FrameQueue::WhenFull::kMiss, 1000);
  ASSERT_TRUE(queue.wantsFrame());
  queue.push(frameOf(0.0, 999));
  ASSERT_TRUE(queue.wantsFrame());
  queue.push(frameOf(1.0, 1));
  EXPECT_FALSE(queue.wantsFrame());
}

TEST(StreamBeginning, AnMp4NeedsItsIndexBeforeItsPictures) {
  const samples::Bytes index = samples::textBytes(std::string("\0\0\0\x0C", 4) + "ftypisom" + std::string("\0\0\0\x08", 4) + "free");
  const auto with = [&](const std::string& box) {
    return samples::joined(index, samples::textBytes(std::string("\0\0\x10\0", 4) + box + std::string(64, 'x')));
  };
  EXPECT_TRUE(requireStreamable(with("moov"), ContentType::kMov, "a"));
  EXPECT_FALSE(requireStreamable(index, ContentType::kMov, "a")) << "what follows has not come yet";
  EXPECT_THROW(requireStreamable(with("mdat"), ContentType::kMov, "a"), Exception);
  EXPECT_TRUE(requireStreamable(with("mdat"), ContentType::kMatroska, "a"));
}

}  // namespace
}  // namespace winnow::app
