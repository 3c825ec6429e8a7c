// Frames in coarse order where the encoder is slow: what was encoded before an interrupt, or for an answer from a part, is not encoded
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/base/interrupt.h"
#include "engine/media/coarse_order.h"
#include "engine/metrics/machine_speed.h"
#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

constexpr int kFrames = 40;

TEST(CoarseOrder, FirstLastMiddleQuarters) {
  EXPECT_EQ(coarse_order(9, 1), (std::vector<int>{0, 8, 4, 2, 6, 1, 3, 5, 7}));
  EXPECT_EQ(coarse_order(7, 2), (std::vector<int>{0, 3, 1, 2})) << "four sets, the last of one frame";
  EXPECT_EQ(coarse_order(1, 1), std::vector<int>{0});
  EXPECT_TRUE(coarse_order(0, 2).empty());
}

TEST(CoarseOrder, EverySetComesOnce) {
  for (int frames = 1; frames < 130; ++frames) {
    for (const int together : {1, 2, 3}) {
      std::vector<int> order = coarse_order(frames, together);
      std::ranges::sort(order);
      std::vector<int> all(static_cast<std::size_t>((frames + together - 1) / together));
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(order, all) << frames << " frames by " << together;
    }
  }
}

TEST(CoarseOrder, APartIsWholeSetsInTheOrderOfTime) {
  EXPECT_EQ(taken_frames(9, 4, 1), (std::vector<int>{0, 2, 4, 8}));
  EXPECT_EQ(taken_frames(10, 4, 2), (std::vector<int>{0, 1, 8, 9}));
  EXPECT_EQ(taken_frames(7, 3, 2), (std::vector<int>{0, 1, 6})) << "the last set has one frame";
  EXPECT_EQ(taken_frames(3, 0, 1), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(taken_frames(3, 99, 2), (std::vector<int>{0, 1, 2}));
}

// An encoder that takes a second a frame.
class SlowSpeed final : public SpeedMemory {
 public:
  MachineSpeed recall(const std::string&) override { return {.ms_per_frame = 1000.0}; }
  void keep(const std::string&, const MachineSpeed&) override {}
};

class PartOfAPlan : public EveryFamily {
 protected:
  void SetUp() override {
    engine_ = make_engine(&opener_, &slow_);
    EveryFamily::SetUp();
    std::vector<RgbImage> pictures;
    for (int i = 0; i < kFrames; ++i) pictures.push_back(patterned_picture(32, 32, i));
    opener_.add("clip", pictures);
  }

  Turn about(int taken, const std::string& method = "full") {
    Turn turn{
        .conversation = 7, .sampling = {.max_new_tokens = 6}, .recipe = {.method = method, .retention = method == "full" ? 1.0 : 0.4}};
    MediaRequest clip;
    clip.path = "clip";
    clip.kind = MediaKind::kVideo;
    clip.plan.frame_count = kFrames;
    clip.plan.taken = taken;
    clip.plan.set_frames = static_cast<int>(info_.traits.joined_frames);
    turn.messages = {{Role::kUser, {MediaItem{clip}, TextItem{"What is shown?"}}}};
    return turn;
  }

  // Of another engine, which encodes what it is asked for and nothing else, in the order of time.
  std::string fresh_answer(const Turn& turn) {
    const std::unique_ptr<Engine> other = make_engine(&opener_);
    LoadModel load{.folder = golden_.model_folder(), .format = WeightFormat::kFp32};
    EventRecorder events;
    other->handle({1, load}, events, {});
    other->handle({2, turn}, events, {});
    return finished(events).answer;
  }

  // Leaves when the first batch is encoded; returns the frames that are there by then.
  int begin_and_leave() {
    InterruptSource user;
    EventRecorder events;
    events.hook = [&](const Event& event) {
      const auto* progress = std::get_if<Progress>(&event.body);
      if (progress != nullptr && progress->part_will_do && progress->done > 0) user.request_cancel();
    };
    engine_->handle({2, about(0)}, events, user.token());
    EXPECT_TRUE(events.last<Finished>() && events.last<Finished>()->restored);
    const std::vector<Progress> told = events.all<Progress>();
    return static_cast<int>(told.back().done);
  }

  SlowSpeed slow_;
};

TEST_P(PartOfAPlan, WhatIsThereIsAnsweredFromAndNeverEncodedAgain) {
  if (!info_.traits.reads_videos) GTEST_SKIP() << "reads no videos";
  const int there = begin_and_leave();
  EXPECT_EQ(there, 8);
  std::vector<int> coarse = taken_frames(kFrames, there, static_cast<int>(info_.traits.joined_frames));
  ASSERT_GE(std::ssize(opener_.order), there);
  EXPECT_TRUE(std::equal(coarse.begin(), coarse.end(), opener_.order.begin())) << "read in the order of time within the batch";
  opener_.pictures_read = 0;
  for (const char* method : {"full", "snapkv"}) {
    SCOPED_TRACE(method);
    const Turn part = about(there, method);
    if (recipe_problem(part.recipe, info_.traits)) continue;
    const EventRecorder events = run(part);
    EXPECT_EQ(opener_.pictures_read, 0);
    const MediaSampled sampled = events.last<MediaSampled>().value_or(MediaSampled{});
    EXPECT_EQ(std::ssize(sampled.asked_s), there);
    EXPECT_EQ(sampled.planned_frames, kFrames);
    EXPECT_EQ(sampled.actual_s.back(), kFrames - 1) << "the last frame is among them";
    EXPECT_EQ(finished(events).answer, fresh_answer(part));
    run(ForgetConversation{7});
    opener_.pictures_read = 0;
  }
  const EventRecorder all = run(about(0));
  EXPECT_EQ(opener_.pictures_read, kFrames - there);
  EXPECT_EQ(finished(all).answer, fresh_answer(about(0)));
}

TEST_P(PartOfAPlan, APlanCountsWhatIsStillToBeEncoded) {
  if (!info_.traits.reads_videos) GTEST_SKIP() << "reads no videos";
  Turn words = about(0);
  words.messages = {{Role::kUser, {TextItem{"What is shown?"}}}};
  finished(run(words));  // its prefill is measured
  const auto encoder_ms = [&](int taken) { return run(Plan{about(taken)}).last<Planned>().value_or(Planned{}).expected_encoder_ms; };
  const double before = encoder_ms(0);
  const int there = begin_and_leave();
  EXPECT_NEAR(encoder_ms(0), before * (kFrames - there) / kFrames, before * 0.01);
  EXPECT_EQ(encoder_ms(there), 0.0);
}

INSTANTIATE_TEST_SUITE_P(Families, PartOfAPlan, tiny_families(), folder_info_name);

}  // namespace
}  // namespace winnow::testing
