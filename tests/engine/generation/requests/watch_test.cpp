// A source that is still running, on a tiny random model: clips come, questions come between them.
#include <gtest/gtest.h>

#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

constexpr double kEveryS = 0.5;

SampledFrame frame_at(int number, int size = 20) {
  SampledFrame frame;
  frame.asked_s = frame.actual_s = kEveryS * number;
  frame.image = patterned_picture(size, size, number);
  return frame;
}

std::vector<SampledFrame> frames(int first, int count) {
  std::vector<SampledFrame> all;
  for (int i = first; i < first + count; ++i) all.push_back(frame_at(i));
  return all;
}

class Watching : public TinyModel {
 protected:
  explicit Watching(const std::string& folder = "gqa_tied") : TinyModel(folder) {}

  Turn source(const std::string& method, std::int64_t cap, const std::string& question = "") {
    Turn turn = ask("text", method, 1.0, 8);
    turn.recipe.budget_tokens = cap;
    turn.guard = Guard::kAlone;
    turn.messages = {watched_camera(kEveryS)};
    if (!question.empty()) turn.messages.back().items.emplace_back(TextItem{question});
    return turn;
  }
  Watched watch(const Turn& turn, bool begins, std::vector<SampledFrame> clip) {
    const EventRecorder events = run(WatchClip{turn, begins, std::move(clip)});
    EXPECT_TRUE(events.last<Watched>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no outcome");
    return events.last<Watched>().value_or(Watched{});
  }
  std::string refusal(const Turn& turn, bool begins = true, std::vector<SampledFrame> clip = frames(0, 2)) {
    const EventRecorder events = run(WatchClip{turn, begins, std::move(clip)});
    return events.last<Failed>() ? events.last<Failed>()->error.subject + ": " + events.last<Failed>()->error.reason : "";
  }
};

class WatchingFamilies : public Watching, public ::testing::WithParamInterface<const char*> {
 protected:
  WatchingFamilies() : Watching(GetParam()) {}
};
// Of models that are told no times: a file tells how long it is, which nobody knows of a source that is still running.
INSTANTIATE_TEST_SUITE_P(Folders, WatchingFamilies, ::testing::Values("gqa_tied", "qwen2_vl/published", "qwen2_5_vl/saved"),
                         folder_info_name);

// The same frames as a file, all at once.
TEST_P(WatchingFamilies, WithRoomForEverythingAQuestionIsAnsweredAsAboutAFile) {
  std::vector<RgbImage> pictures;
  for (int i = 0; i < 10; ++i) pictures.push_back(frame_at(i).image);
  opener_.add("file", pictures);
  Turn file = source("full", 100'000, "What is there?");
  file.recipe.budget_tokens.reset();
  MediaRequest& request = std::get<MediaItem>(file.messages.back().items.front()).media;
  request.path = "file";
  const Finished expected = finished(run(file));
  run(ForgetConversation{7});

  const Turn turn = source("kvzip-stream", 100'000, "What is there?");
  watch(turn, true, frames(0, 4));
  watch(turn, false, frames(4, 4));
  EXPECT_EQ(watch(turn, false, frames(8, 2)).frames, 10);
  const Finished found = finished(run(turn));
  EXPECT_EQ(found.answer, expected.answer);
  EXPECT_EQ(found.figures.kv_bytes.after_event, expected.figures.kv_bytes.after_event);
}

TEST_F(Watching, QuestionsComeAtAnyMomentAndLeaveNoTrace) {
  for (const char* method : {"kvzip-stream", "self-study-stream", "infinipot-v"}) {
    SCOPED_TRACE(method);
    const Turn turn = source(method, 20);
    const Turn asked = source(method, 20, "What is there?");
    watch(turn, true, frames(0, 8));
    const Finished early = finished(run(asked));
    EXPECT_EQ(finished(run(asked)).answer, early.answer) << "the first question is not part of what was seen";
    watch(turn, false, frames(8, 8));
    const Watched seen = watch(turn, false, frames(16, 8));
    const Finished late = finished(run(asked));
    run(ForgetConversation{7});

    watch(turn, true, frames(0, 8));
    watch(turn, false, frames(8, 8));
    const Watched undisturbed = watch(turn, false, frames(16, 8));
    EXPECT_EQ(undisturbed.slots, seen.slots);
    EXPECT_EQ(undisturbed.shares, seen.shares);
    EXPECT_EQ(finished(run(asked)).answer, late.answer);
    run(ForgetConversation{7});
  }
}

TEST_F(Watching, FiguresSayWhatIsLeft) {
  const Turn turn = source("kvzip-stream", 20);
  const Watched first = watch(turn, true, frames(0, 2));
  EXPECT_EQ(first.frames, 2);
  EXPECT_DOUBLE_EQ(first.seen_s, 2 * kEveryS);
  EXPECT_EQ(first.kv_bytes, first.kv_bytes_full) << "nothing had to leave yet";
  for (const double share : first.shares) EXPECT_NEAR(share, 1.0, 1e-9);
  std::int64_t bytes = 0;
  Watched last;
  for (int clip = 0; clip < 12; ++clip) {
    last = watch(turn, false, frames(2 + 4 * clip, 4));
    EXPECT_EQ(last.most_slots, 20);
    for (const std::int64_t slots : last.slots) EXPECT_LE(slots, 20 * info_.kv_heads);
    if (clip > 4) {
      EXPECT_EQ(last.kv_bytes, bytes) << "flat";
    }
    bytes = last.kv_bytes;
  }
  ASSERT_EQ(last.shares.size(), 50U);
  double held = 0.0;
  for (const double share : last.shares) held += share;
  std::int64_t slots = 0;
  for (const std::int64_t of_layer : last.slots) slots += of_layer;
  const double frame_slots = static_cast<double>(last.tokens) / 50.0 * static_cast<double>(info_.layers * info_.kv_heads);
  EXPECT_NEAR(held * frame_slots, static_cast<double>(slots), 1e-6);
}

// The tiny model reads so few positions that a long stream has to share them.
TEST_F(Watching, PositionsThatDoNotSufficeAreShared) {
  const Turn turn = source("infinipot-v", 20);
  std::int64_t shared = 1;
  Watched seen = watch(turn, true, frames(0, 8));
  const std::int64_t frame_tokens = seen.tokens / 8;
  const int needed = static_cast<int>(2 * info_.context_tokens / frame_tokens);
  for (int first = 8; first < needed; first += 8) {
    seen = watch(turn, false, frames(first, 8));
    EXPECT_GE(seen.frames_per_position, shared);
    shared = seen.frames_per_position;
  }
  EXPECT_GE(shared, 4);
  EXPECT_FALSE(finished(run(source("infinipot-v", 20, "What is there?"))).answer.empty());
}

TEST_F(Watching, AClipThatWasInterruptedHasNotCome) {
  const Turn turn = source("kvzip-stream", 20);
  const Turn asked = source("kvzip-stream", 20, "What is there?");
  watch(turn, true, frames(0, 8));
  const std::string before = finished(run(asked)).answer;
  InterruptSource stop;
  stop.request_stop();
  const EventRecorder events = run(WatchClip{turn, false, frames(8, 8)}, stop.token());
  ASSERT_TRUE(events.last<Finished>());
  EXPECT_TRUE(events.last<Finished>()->restored);
  EXPECT_EQ(finished(run(asked)).answer, before);
  EXPECT_EQ(watch(turn, false, frames(8, 8)).frames, 16);
}

TEST_F(Watching, ASystemsMessageStandsBeforeTheSource) {
  Turn turn = source("kvzip-stream", 20);
  turn.messages.insert(turn.messages.begin(), {Role::kSystem, {TextItem{"Be short."}}});
  watch(turn, true, frames(0, 8));
  EXPECT_EQ(watch(turn, false, frames(8, 8)).frames, 16);
  Turn asked = turn;
  asked.messages.back().items.emplace_back(TextItem{"What is there?"});
  EXPECT_FALSE(finished(run(asked)).answer.empty());
}

TEST_F(Watching, FramesMayChangeTheirSize) {
  const Turn turn = source("kvzip-stream", 20);
  std::vector<SampledFrame> mixed = frames(0, 3);
  mixed.push_back(frame_at(3, 31));
  mixed.push_back(frame_at(4, 31));
  EXPECT_EQ(watch(turn, true, mixed).frames, 5);
}

TEST_F(Watching, WhatCannotBeWatchedIsSaid) {
  EXPECT_NE(refusal(source("self-study", 20)).find("method: self-study reads media as a whole"), std::string::npos);
  Turn endless = source("kvzip-stream", 20);
  endless.recipe.budget_tokens.reset();
  endless.recipe.retention = 0.1;
  EXPECT_EQ(refusal(endless), "budget: a source without an end is held within a number of slots");
  Turn whole = source("kvzip-stream", 20);
  whole.recipe.full_layers = 1;
  EXPECT_EQ(refusal(whole), "full_layers: a layer that keeps everything grows with a stream");
  Turn pinned = source("kvzip-stream", 20);
  pinned.pins = {{0, 0.0, 1.0}};
  EXPECT_EQ(refusal(pinned), "pin: frames of a source that is still running cannot be pinned");
  EXPECT_EQ(refusal(source("kvzip-stream", 20), true, {}), "camera: a clip has frames");
  EXPECT_EQ(refusal(source("kvzip-stream", 20), false), "camera: nothing has been seen of this source that the clip could go on from");
  Turn two = source("kvzip-stream", 20);
  two.messages.back().items.push_back(two.messages.back().items.front());
  EXPECT_EQ(refusal(two), "camera: one source is watched at a time");
}

// Families that write something before each frame: its time, its number.
class WatchingWithWords : public Watching, public ::testing::WithParamInterface<const char*> {
 protected:
  WatchingWithWords() : Watching(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Families, WatchingWithWords, ::testing::Values("smolvlm/smolvlm2_split", "internvl/qwen2_saved"),
                         folder_info_name);

TEST_P(WatchingWithWords, AQuestionGoesOnFromTheFramesThatWereRead) {
  const Turn turn = source("kvzip-stream", 100'000, "What is there?");
  const Watched first = watch(turn, true, frames(0, 4));
  const Watched then = watch(turn, false, frames(4, 3));
  EXPECT_EQ(then.frames, 7);
  // What stands before the first frame is the prompt's text, not the medium's.
  const std::int64_t words = info_.visual_tokens_per_frame - first.tokens + 3 * info_.visual_tokens_per_frame;
  EXPECT_GT(words, 0);
  EXPECT_EQ(then.tokens, 7 * info_.visual_tokens_per_frame - words);
  const Finished answered = finished(run(turn));
  EXPECT_EQ(answered.figures.tokens.visual, 0) << "nothing is read again";
  EXPECT_GT(answered.figures.tokens.generated, 0);
}

TEST_P(WatchingWithWords, ALongSourceStaysWithinItsSlots) {
  const Turn turn = source("infinipot-v", 64, "What is there?");
  Watched watched;
  for (int i = 0; i < 8; ++i) watched = watch(turn, i == 0, frames(4 * i, 4));
  EXPECT_EQ(watched.frames, 32);
  for (const std::int64_t slots : watched.slots) EXPECT_LE(slots, 64 * info_.kv_heads);
  EXPECT_GT(finished(run(turn)).figures.tokens.generated, 0);
}

// Families that write a time with each pair of frames: before it the middle of the pair's, which a short clip does not know, or behind it.
class WatchingTimedPairs : public Watching, public ::testing::WithParamInterface<const char*> {
 protected:
  WatchingTimedPairs() : Watching(GetParam()) {}
};

TEST_P(WatchingTimedPairs, AQuestionGoesOnHoweverShortTheFirstClipWas) {
  const Turn turn = source("kvzip-stream", 100'000, "What is there?");
  watch(turn, true, frames(0, 1));
  const Watched then = watch(turn, false, frames(1, 6));
  EXPECT_EQ(then.frames, 7);
  const Finished answered = finished(run(turn));
  EXPECT_EQ(answered.figures.tokens.visual, 0) << "nothing is read again";
  EXPECT_GT(answered.figures.tokens.generated, 0);
}

INSTANTIATE_TEST_SUITE_P(Folders, WatchingTimedPairs, ::testing::Values("qwen3_vl/published", "glm4v/thinking"), folder_info_name);

class WatchingPairsWithTimes : public Watching {
 protected:
  WatchingPairsWithTimes() : Watching("qwen3_vl/published") {}
};

TEST_F(WatchingPairsWithTimes, ALongSourceStaysWithinItsSlotsAndThePositionsThatTheModelHas) {
  for (const char* method : {"infinipot-v", "kvzip-stream"}) {
    SCOPED_TRACE(method);
    run(ForgetConversation{7});
    const Turn turn = source(method, 64, "What is there?");
    Watched watched;
    for (int i = 0; i < 40; ++i) watched = watch(turn, i == 0, frames(16 * i, 16));
    EXPECT_EQ(watched.frames, 640);
    EXPECT_GT(watched.frames_per_position, 1) << "320 pairs of 14 positions are more than 4,096";
    for (const std::int64_t slots : watched.slots) EXPECT_LE(slots, 64 * info_.kv_heads);
    EXPECT_GT(finished(run(turn)).figures.tokens.generated, 0);
  }
}

}  // namespace
}  // namespace winnow::testing
