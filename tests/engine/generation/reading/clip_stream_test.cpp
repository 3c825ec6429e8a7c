// Media that come clip by clip, on a tiny random model: what is held never exceeds the cap and a clip.
#include "engine/generation/reading/clip_stream.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/recipes/method_info.h"
#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

TokenOrigin visual(std::int32_t media, std::int32_t frame, std::int16_t row) { return {Modality::kVisual, media, frame, row, 0}; }

using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST(Clips, HoldSoManyFramesWithTheTextBetweenThem) {
  std::vector<TokenOrigin> origins;
  for (std::int32_t frame = 0; frame < 5; ++frame) {
    for (std::int16_t row = 0; row < 3; ++row) origins.push_back(visual(0, frame, row));
  }
  origins.push_back(visual(0, -1, -1));  // a newline embedding belongs to the frames before it
  EXPECT_EQ(clips_of(origins, 2), (Spans{{0, 6}, {6, 6}, {12, 4}}));
  EXPECT_EQ(clips_of(origins, 8), (Spans{{0, 16}}));
  origins.emplace_back();                                                                 // text
  for (std::int16_t row = 0; row < 4; ++row) origins.push_back(visual(1, row % 2, row));  // an image in two tiles is told by its medium
  EXPECT_EQ(clips_of(std::span(origins).subspan(12), 1).front(), (std::pair<std::int64_t, std::int64_t>{0, 5}));
  EXPECT_TRUE(clips_of({}, 2).empty());
}

using ClipStreams = TinyModel;

// Forty small frames.
Turn long_video(Turn turn, MemoryMediaOpener& opener, const std::string& clip) {
  std::vector<RgbImage> frames;
  for (int i = 0; i < 40; ++i) frames.push_back(patterned_picture(20, 20, i));
  opener.add("long", frames);
  std::get<MediaItem>(turn.messages.back().items.front()).media.path = "long";
  turn.recipe.options["clip"] = clip;
  return turn;
}

std::vector<std::string> stream_methods() {
  std::vector<std::string> names;
  for (const MethodInfo& method : list_methods()) {
    if (method.phase == MethodPhase::kStream) names.push_back(method.name);
  }
  return names;
}

TEST_F(ClipStreams, ThePeakIsTheCapAndAClip) {
  ASSERT_GE(stream_methods().size(), 3U);
  for (const std::string& method : stream_methods()) {
    SCOPED_TRACE(method);
    Turn turn = long_video(ask("video", method, 1.0, 4), opener_, "4");
    turn.recipe.budget_tokens = 20;
    const EventRecorder events = run(turn);
    const Finished done = finished(events);
    const CacheReport report = events.last<CacheReport>().value();
    const std::int64_t frame_tokens = done.figures.tokens.visual / 40;
    ASSERT_GT(frame_tokens, 0);
    for (const auto& layer : report.kept) {
      std::int64_t slots = 0;
      for (const auto& head : layer) {
        for (const std::int32_t token : head) slots += report.tokens[static_cast<std::size_t>(token)].modality == Modality::kVisual ? 1 : 0;
      }
      EXPECT_LE(slots, 20 * info_.kv_heads);
      EXPECT_GE(slots, 15 * info_.kv_heads) << "three quarters at least";
    }
    // Blocks are counted whole: one more a head, and one while a head is compacted.
    const std::int64_t text = done.figures.tokens.prompt - done.figures.tokens.visual;
    const std::int64_t most = 20 * info_.kv_heads + 4 * frame_tokens + text + 2 * KvCache::kBlockSlots;
    const std::int64_t slot_bytes = info_.kv_bytes_per_token / (info_.layers * info_.kv_heads);
    EXPECT_LE(report.kv_bytes.peak, most * info_.layers * info_.kv_heads * slot_bytes);
    EXPECT_LT(report.kv_bytes.peak, report.kv_bytes.full);
    run(ForgetConversation{7});
  }
}

TEST_F(ClipStreams, WithRoomForEverythingTheCacheIsThatOfOnePrefill) {
  const Turn full = long_video(ask("video", "full", 1.0, 12), opener_, "4");
  Turn plain = full;
  plain.recipe.options.clear();
  const Finished all = finished(run(plain));
  run(ForgetConversation{7});
  for (const std::string& method : stream_methods()) {
    SCOPED_TRACE(method);
    Turn turn = full;
    turn.recipe.method = method;
    turn.recipe.budget_tokens = 100'000;
    EXPECT_EQ(finished(run(turn)).answer, all.answer);
    run(ForgetConversation{7});
  }
}

TEST_F(ClipStreams, TwoRunsAreTheSameAndAnotherQuestionSeesTheSameSlots) {
  for (const std::string& method : stream_methods()) {
    SCOPED_TRACE(method);
    const Turn turn = long_video(ask("video", method, 0.1, 8), opener_, "8");
    const EventRecorder one = run(turn);
    run(ForgetConversation{7});
    const EventRecorder two = run(turn);
    EXPECT_EQ(finished(one).answer, finished(two).answer);
    EXPECT_EQ(one.last<CacheReport>()->kept, two.last<CacheReport>()->kept);
    run(ForgetConversation{7});
    ASSERT_TRUE(run(Prepare{turn}).last<Prepared>()->compressed);
    EXPECT_EQ(finished(run(turn)).answer, finished(one).answer) << "prepared";
    run(ForgetConversation{7});
  }
}

TEST_F(ClipStreams, PinsOutliveEveryClip) {
  for (const std::string& method : stream_methods()) {
    SCOPED_TRACE(method);
    Turn turn = long_video(ask("video", method, 1.0, 4), opener_, "4");
    turn.recipe.budget_tokens = 24;
    turn.pins = {{0, 0.0, 0.0}};
    const EventRecorder events = run(turn);
    finished(events);
    const CacheReport report = events.last<CacheReport>().value();
    ASSERT_FALSE(report.pinned.empty());
    for (const auto& layer : report.kept) {
      for (const auto& head : layer) {
        for (const std::int32_t token : report.pinned) EXPECT_TRUE(std::binary_search(head.begin(), head.end(), token));
      }
    }
    run(ForgetConversation{7});
  }
}

TEST_F(ClipStreams, EveryOptionOfAStreamRuns) {
  const std::vector<std::pair<std::string, std::map<std::string, std::string>>> settings = {
      {"kvzip-stream", {{"proxy", "text"}}},
      {"kvzip-stream", {{"proxy", "template"}}},
      {"kvzip-stream", {{"norms", "true"}}},
      {"kvzip-stream", {{"compete", "all"}, {"floor", "0.2"}}},
      {"kvzip-stream", {{"compete", "nobody"}}},
      {"self-study-stream", {{"with", "kvzip"}, {"answer", "16"}}},
      {"self-study-stream", {{"ask", "Which color?"}}},
      {"self-study-stream", {{"words", "request"}}},
      {"self-study-stream", {{"stored", "false"}}},
      {"infinipot-v", {{"cells", "rank"}, {"target", "1"}}},
  };
  for (const auto& [method, options] : settings) {
    SCOPED_TRACE(method + " " + options.begin()->first + "=" + options.begin()->second);
    Turn turn = long_video(ask("video", method, 0.1, 4), opener_, "8");
    turn.recipe.options.insert(options.begin(), options.end());
    EXPECT_LT(finished(run(turn)).figures.achieved_retention, 0.5);
    run(ForgetConversation{7});
  }
  Turn keys = long_video(ask("video", "keydiff", 0.1, 4), opener_, "8");
  keys.recipe.options = {{"event", "clips"}};
  EXPECT_LT(finished(run(keys)).figures.kv_bytes.peak, finished(run(ask("video", "full", 1.0, 4))).figures.kv_bytes.full * 100);
}

// Frames of the media whose tokens are all held, in every layer and head.
std::set<std::int32_t> whole_frames(const CacheReport& report) {
  std::set<std::int32_t> frames;
  for (const TokenOrigin& origin : report.tokens) {
    if (origin.modality == Modality::kVisual && origin.row >= 0) frames.insert(origin.frame);
  }
  for (const auto& layer : report.kept) {
    for (const auto& head : layer) {
      for (std::size_t token = 0; token < report.tokens.size(); ++token) {
        const TokenOrigin& origin = report.tokens[token];
        const bool shown = origin.modality == Modality::kVisual && origin.row >= 0;
        if (shown && !std::ranges::binary_search(head, static_cast<std::int32_t>(token))) frames.erase(origin.frame);
      }
    }
  }
  return frames;
}

// Slots for a little over three frames.
std::int64_t a_little_over_three(const CacheReport& report) {
  std::int64_t of_a_frame = 0;
  for (const TokenOrigin& origin : report.tokens) of_a_frame += origin.modality == Modality::kVisual && origin.frame == 39 ? 1 : 0;
  return 3 * of_a_frame + of_a_frame / 2;
}

// The control of all streams: what is shown right now, and nothing before.
TEST_F(ClipStreams, OfTheLastFramesNothingElseStays) {
  Turn turn = long_video(ask("video", "last-frames", 1.0, 4), opener_, "4");
  turn.recipe.budget_tokens = static_cast<int>(a_little_over_three(run(turn).last<CacheReport>().value()));
  run(ForgetConversation{7});
  const CacheReport report = run(turn).last<CacheReport>().value();
  EXPECT_EQ(whole_frames(report), (std::set<std::int32_t>{37, 38, 39}));
  for (const auto& layer : report.kept) {
    for (const auto& head : layer) {
      for (const std::int32_t token : head) {
        const TokenOrigin& origin = report.tokens[static_cast<std::size_t>(token)];
        if (origin.modality == Modality::kVisual && origin.frame >= 0) {
          EXPECT_GE(origin.frame, 36);
        }
      }
    }
  }
}

TEST_F(ClipStreams, TheNewestFramesStayWhateverTheyScore) {
  for (const char* method : {"self-study-stream", "kvzip-stream", "random-context", "keydiff"}) {
    SCOPED_TRACE(method);
    Turn turn = long_video(ask("video", method, 1.0, 4), opener_, "4");
    const auto held = [&](const char* newest) {
      turn.recipe.options["newest"] = newest;
      const CacheReport report = run(turn).last<CacheReport>().value();
      run(ForgetConversation{7});
      return whole_frames(report);
    };
    if (std::string_view(method) == "random-context" || std::string_view(method) == "keydiff") turn.recipe.options["event"] = "clips";
    turn.recipe.budget_tokens = 1'000'000;
    turn.recipe.options["newest"] = "0";
    const CacheReport all = run(turn).last<CacheReport>().value();
    run(ForgetConversation{7});
    turn.recipe.budget_tokens = static_cast<int>(a_little_over_three(all));
    const std::set<std::int32_t> two = held("2");
    EXPECT_TRUE(two.contains(38) && two.contains(39));
    EXPECT_EQ(held("10"), (std::set<std::int32_t>{37, 38, 39})) << "as many as fit, the newest first";
  }
}

// The control of all streams that choose: what came early has the same chance as what came late.
TEST_F(ClipStreams, OfALotteryTheSameSlotsStayAsWhenItIsDrawnOnce) {
  Turn turn = long_video(ask("video", "random-context", 1.0, 4), opener_, "4");
  turn.recipe.options.clear();
  turn.recipe.budget_tokens = 24;
  const CacheReport once = run(turn).last<CacheReport>().value();
  run(ForgetConversation{7});
  turn.recipe.options = {{"event", "clips"}, {"clip", "4"}};
  const CacheReport clips = run(turn).last<CacheReport>().value();
  EXPECT_EQ(clips.kept, once.kept);
  EXPECT_LT(clips.kv_bytes.peak, once.kv_bytes.peak);
}

}  // namespace
}  // namespace winnow::testing
