// Reading ahead: order, errors in their place, and an end at any moment. Threads meet at flags, not at clocks.
#include "engine/generation/segment/picture_batches.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <thread>

#include "engine/base/error.h"

namespace winnow {
namespace {

class Frames : public FrameSource {
 public:
  explicit Frames(int count, int side_px = 2) : count_(count), side_px_(side_px) {}
  MediaKind kind() const override { return MediaKind::kVideo; }
  PictureSize picture_size() const override { return {side_px_, side_px_}; }
  double duration_s() const override { return count_; }
  int frame_count() const override { return count_; }
  std::string content_hash() const override { return "frames"; }
  std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override {
    reader = std::this_thread::get_id();
    if (before) before(first, interrupt);
    std::vector<SampledFrame> frames;
    for (int i = first; i < first + count; ++i) frames.push_back({static_cast<double>(i), static_cast<double>(i), {}});
    read_up_to = first + count;
    return frames;
  }

  std::function<void(int first, const InterruptToken&)> before;
  std::atomic<int> read_up_to = 0;
  std::atomic<std::thread::id> reader;

 private:
  int count_;
  int side_px_;
};

TEST(PictureBatches, ComeInOrderAndOnce) {
  Frames source(19);
  PictureBatches batches(source, batches_in_order(source.frame_count(), 8), {});
  std::vector<double> times;
  std::vector<int> sizes;
  while (batches.left()) {
    const auto batch = batches.take();
    sizes.push_back(static_cast<int>(batch.size()));
    for (const SampledFrame& frame : batch) times.push_back(frame.asked_s);
  }
  EXPECT_EQ(sizes, (std::vector<int>{8, 8, 3}));
  for (int i = 0; i < 19; ++i) EXPECT_EQ(times[static_cast<std::size_t>(i)], i);
}

TEST(PictureBatches, FramesThatFollowEachOtherAreReadAtOnce) {
  Frames source(20);
  std::vector<int> first;
  source.before = [&](int frame, const InterruptToken&) { first.push_back(frame); };
  PictureBatches batches(source, {{0, 4, 5, 6, 19}, {7}}, {});
  std::vector<double> times;
  for (const SampledFrame& frame : batches.take()) times.push_back(frame.asked_s);
  EXPECT_EQ(times, (std::vector<double>{0, 4, 5, 6, 19}));
  batches.take();
  EXPECT_EQ(first, (std::vector<int>{0, 4, 19, 7}));
  EXPECT_FALSE(batches.left());
}

TEST(PictureBatches, TheNextIsReadWhileOneIsUsedAndNoneBehindIt) {
  Frames source(24);
  std::latch second(1);
  source.before = [&](int first, const InterruptToken&) {
    if (first == 8) second.count_down();
  };
  PictureBatches batches(source, batches_in_order(source.frame_count(), 8), {});
  EXPECT_EQ(source.read_up_to, 0) << "nothing before it is asked for";
  batches.take();
  second.wait();  // without asking for it
  EXPECT_NE(source.reader.load(), std::this_thread::get_id());
  batches.take();
  EXPECT_GE(source.read_up_to, 16);
}

TEST(PictureBatches, LargePicturesAreReadWhenTheyAreAskedFor) {
  Frames source(16, 4096);
  PictureBatches batches(source, batches_in_order(source.frame_count(), 8), {});
  batches.take();
  EXPECT_EQ(source.read_up_to, 8);
  batches.take();
  EXPECT_EQ(source.reader.load(), std::this_thread::get_id());
}

TEST(PictureBatches, AnErrorComesWithItsBatch) {
  Frames source(24);
  source.before = [](int first, const InterruptToken&) {
    if (first == 8) throw Exception(ErrorCode::kDamagedFile, "clip", "frame 8");
  };
  PictureBatches batches(source, batches_in_order(source.frame_count(), 8), {});
  EXPECT_EQ(batches.take().size(), 8u);
  EXPECT_THROW(batches.take(), Exception);
  EXPECT_EQ(source.read_up_to, 8) << "nothing is read behind it";
}

TEST(PictureBatches, StopAndCancelReachTheReader) {
  for (const Interrupt kind : {Interrupt::kStop, Interrupt::kCancel}) {
    Frames source(16);
    InterruptSource user;
    std::latch reading(1);
    source.before = [&](int first, const InterruptToken& token) {
      if (first == 0) return;
      reading.count_down();
      while (!token.requested()) std::this_thread::yield();
      token.throw_if_requested();
    };
    PictureBatches batches(source, batches_in_order(source.frame_count(), 8), user.token());
    batches.take();
    reading.wait();
    kind == Interrupt::kStop ? user.request_stop() : user.request_cancel();
    try {
      batches.take();
      ADD_FAILURE() << "went on";
    } catch (const Interrupted& interrupted) {
      EXPECT_EQ(interrupted.kind(), kind);
    }
  }
}

// As when the tower fails, or the turn ends, while a batch is on its way: the test ends only if the reader is told.
TEST(PictureBatches, LeavingEndsWhatIsBeingRead) {
  Frames source(16);
  std::latch reading(1);
  source.before = [&](int first, const InterruptToken& token) {
    if (first == 0) return;
    reading.count_down();
    while (!token.requested()) std::this_thread::yield();
    token.throw_if_requested();
  };
  {
    PictureBatches batches(source, batches_in_order(source.frame_count(), 8), {});
    batches.take();
    reading.wait();
  }
  EXPECT_EQ(source.read_up_to, 8);
}

}  // namespace
}  // namespace winnow
