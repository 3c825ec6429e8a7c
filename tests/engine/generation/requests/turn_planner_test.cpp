// What a plan says is what then happens: on the demo model with random settings, and figure by figure.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "engine/api/engine.h"
#include "engine/metrics/machine_speed.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/event_recorder.h"
#include "tests/support/memory_media.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {
namespace {

RgbImage noise(std::mt19937& random, int width, int height) {
  RgbImage picture{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3)};
  for (std::uint8_t& value : picture.rgb) value = static_cast<std::uint8_t>(random());
  return picture;
}

class Plans : public ::testing::Test {
 protected:
  void SetUp() override {
    LoadModel load;
    load.folder = source_folder() + "/resources/demo/model";
    load.format = WeightFormat::kFp32;
    const EventRecorder events = run(load);
    ASSERT_TRUE(events.last<ModelLoaded>());
    info_ = events.last<ModelLoaded>()->info;
  }

  EventRecorder run(const RequestBody& body) {
    EventRecorder events;
    engine_->handle({2, body}, events, InterruptToken());
    return events;
  }

  Planned plan(const Turn& turn) {
    const EventRecorder events = run(Plan{turn});
    EXPECT_TRUE(events.last<Planned>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no plan");
    return events.last<Planned>().value_or(Planned{});
  }

  // A video of so many frames, or an image.
  Item media(MediaKind kind, std::vector<RgbImage> pictures) {
    const std::string path = "media" + std::to_string(++files_);
    opener_.add(path, std::move(pictures));
    return MediaItem{{path, kind, {}}};
  }
  Item video(int frames) {
    std::vector<RgbImage> pictures;
    for (int i = 0; i < frames; ++i) pictures.push_back(noise(random_, 48, 32));
    return media(MediaKind::kVideo, std::move(pictures));
  }
  Item image(int width, int height) { return media(MediaKind::kImage, {noise(random_, width, height)}); }

  Turn question(std::vector<Item> items, const std::string& method, double retention) {
    Turn turn;
    turn.conversation = 3;
    items.emplace_back(TextItem{"What is the first shape in this video, and which one comes last?"});
    turn.messages = {{Role::kUser, std::move(items)}};
    turn.recipe.method = method;
    turn.recipe.retention = retention;
    turn.sampling.max_new_tokens = 8;
    return turn;
  }

  std::mt19937 random_{20};
  MemoryMediaOpener opener_;
  int files_ = 0;
  std::unique_ptr<Engine> engine_ = make_engine(&opener_);
  ModelInfo info_;
};

struct RandomSetting {
  Turn turn;
  std::string words;
};

// Any method, share, media, scope and turn: what a person might set before sending.
class Settings {
 public:
  explicit Settings(std::mt19937& random) : random_(random) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool one_in(int n) { return below(n) == 0; }

  RecipeSpec recipe() {
    RecipeSpec recipe;
    const std::vector<MethodInfo> methods = list_methods();
    recipe.method = methods[static_cast<std::size_t>(below(static_cast<int>(methods.size())))].name;
    constexpr double kShares[] = {0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 1.0};
    recipe.retention = recipe.method == "full" ? 1.0 : kShares[below(8)];
    if (one_in(5)) recipe.budget_tokens = 16 + below(200);
    if (one_in(4)) recipe.scope = one_in(2) ? "all" : "visual";
    if (one_in(4)) recipe.granularity = one_in(2) ? "head" : "layer";
    if (one_in(5)) recipe.min_event_tokens = 0;
    if (one_in(4)) recipe.full_layers = 1 + below(2);
    if (one_in(4)) recipe.kv_bits = 4 << below(3);
    if (one_in(4)) recipe.turn_policy = one_in(2) ? TurnPolicy::kFirstOnly : TurnPolicy::kWhole;
    return recipe;
  }

 private:
  std::mt19937& random_;
};

double off_by(std::int64_t planned, std::int64_t happened) {
  return happened == 0 ? static_cast<double>(planned != 0) : std::abs(static_cast<double>(planned) / static_cast<double>(happened) - 1.0);
}

TEST_F(Plans, TwentyRandomSettingsHappenAsPlanned) {
  Settings settings(random_);
  double worst_tokens = 0.0, worst_full = 0.0, worst_after = 0.0, worst_peak = 0.0;
  std::printf("method, share or slots, prompt tokens, turn: KV after event planned / measured, peak planned / measured\n");
  int done = 0;
  for (int drawn = 0; done < 20; ++drawn) {
    ASSERT_LT(drawn, 200) << "hardly any drawn setting is legal";
    std::vector<Item> items;
    std::string what = "text";
    switch (settings.below(7)) {
      case 0: items = {image(20 + settings.below(600), 20 + settings.below(600))}, what = "image"; break;
      case 1: items = {image(100, 70), image(60, 90)}, what = "two images"; break;
      case 2: items = {image(300, 100), video(6)}, what = "image and video"; break;
      case 3:
      case 4:
      case 5: items = {video(4 + settings.below(60))}, what = "video"; break;
      default: break;
    }
    Turn turn = question(items, "full", 1.0);
    if (what == "text") {
      std::string text;
      for (int i = settings.below(300); i >= 0; --i) text += "a red circle, ";
      turn.messages.back().items = {TextItem{text + "what is it?"}};
    }
    turn.recipe = settings.recipe();
    bool second = false;
    run(ForgetConversation{turn.conversation});
    if (settings.one_in(2)) {
      const EventRecorder first = run(turn);
      if (!first.last<Finished>()) continue;  // no legal recipe
      turn.messages.push_back({Role::kAssistant, {TextItem{first.last<Finished>()->answer}}});
      turn.messages.push_back({Role::kUser, settings.one_in(2) ? std::vector<Item>{video(5 + settings.below(30)), TextItem{"And here?"}}
                                                               : std::vector<Item>{TextItem{"And then?"}}});
      if (settings.one_in(3)) turn.guard = settings.one_in(2) ? Guard::kPrefill : Guard::kRam;
      second = true;
    }
    const EventRecorder said = run(Plan{turn});
    if (const auto failed = said.last<Failed>()) {
      ASSERT_EQ(failed->error.code, ErrorCode::kIllegalRecipe) << failed->error.reason;
      continue;
    }
    const Planned planned = *said.last<Planned>();
    const EventRecorder events = run(turn);
    ASSERT_TRUE(events.last<Finished>()) << events.last<Failed>()->error.reason;
    const CacheReport report = *events.last<CacheReport>();
    const TokenCounts tokens = events.last<Finished>()->figures.tokens;
    ++done;

    const RecipeSpec& recipe = turn.recipe;
    const std::string setting =
        recipe.method + ", " +
        (recipe.budget_tokens ? std::to_string(*recipe.budget_tokens) + " slots" : std::to_string(recipe.retention).substr(0, 4)) +
        (recipe.kv_bits > 0 ? ", " + std::to_string(recipe.kv_bits) + " bits" : "") +
        (recipe.scope.empty() ? "" : ", scope " + recipe.scope) + (recipe.granularity.empty() ? "" : ", per " + recipe.granularity) + ", " +
        what;
    std::printf("%2d %s, %lld, %s: %lld / %lld, %lld / %lld\n", done, setting.c_str(), static_cast<long long>(tokens.prompt),
                second ? "second" : "first", static_cast<long long>(planned.kv_bytes_after_event),
                static_cast<long long>(report.kv_bytes.after_event), static_cast<long long>(planned.peak_bytes),
                static_cast<long long>(report.kv_bytes.peak));
    EXPECT_EQ(planned.tokens.prompt, tokens.prompt) << setting;
    EXPECT_EQ(planned.tokens.visual, tokens.visual) << setting;
    EXPECT_EQ(planned.tokens.text, tokens.text) << setting;
    EXPECT_LE(off_by(planned.kv_bytes_full, report.kv_bytes.full), 0.02) << setting;
    EXPECT_LE(off_by(planned.kv_bytes_after_event, report.kv_bytes.after_event), 0.02) << setting;
    EXPECT_LE(off_by(planned.peak_bytes, report.kv_bytes.peak), info_.device == "cuda" ? 0.03 : 0.02) << setting;
    EXPECT_TRUE(planned.fits_context && planned.fits_memory) << setting;
    worst_tokens = std::max(worst_tokens, off_by(planned.tokens.prompt, tokens.prompt));
    worst_full = std::max(worst_full, off_by(planned.kv_bytes_full, report.kv_bytes.full));
    worst_after = std::max(worst_after, off_by(planned.kv_bytes_after_event, report.kv_bytes.after_event));
    worst_peak = std::max(worst_peak, off_by(planned.peak_bytes, report.kv_bytes.peak));
  }
  std::printf("largest error: tokens %.2f %%, KV full %.2f %%, KV after the event %.2f %%, peak %.2f %%\n", 100 * worst_tokens,
              100 * worst_full, 100 * worst_after, 100 * worst_peak);
}

// A random draw may leave a preset out.
TEST_F(Plans, EveryPresetKeepsWhatItsPlanSays) {
  const Item clip = video(24);
  for (const MethodInfo& method : list_methods()) {
    run(ForgetConversation{3});
    Turn turn = question({clip}, method.name, 0.15);
    if (method.name == "full") turn.recipe.retention = 1.0;
    const Planned planned = plan(turn);
    const EventRecorder events = run(turn);
    ASSERT_TRUE(events.last<CacheReport>()) << method.name;
    EXPECT_EQ(planned.kv_bytes_after_event, events.last<CacheReport>()->kv_bytes.after_event) << method.name;
    EXPECT_EQ(planned.tokens.prompt, events.last<Finished>()->figures.tokens.prompt) << method.name;
  }
}

using PlansOfFamilies = EveryFamily;

// Words among a medium's tokens, and text around it, are foreseen, too.
TEST_P(PlansOfFamilies, EveryPresetKeepsWhatItsPlanSays) {
  for (const MethodInfo& method : legal_methods()) {
    SCOPED_TRACE(method.name);
    run(ForgetConversation{7});
    Turn turn = ask(info_.traits.reads_videos ? "video" : "two_images", method.name, method.name == "full" ? 1.0 : 0.2);
    turn.messages.front().items.insert(turn.messages.front().items.begin() + 1, golden_.message("image", opener_).items.front());
    const EventRecorder foreseen = run(Plan{turn});
    ASSERT_TRUE(foreseen.last<Planned>());
    const EventRecorder events = run(turn);
    const Finished done = finished(events);
    EXPECT_EQ(foreseen.last<Planned>()->kv_bytes_after_event, events.last<CacheReport>()->kv_bytes.after_event);
    EXPECT_EQ(foreseen.last<Planned>()->state_bytes, done.figures.kv_bytes.states);
    EXPECT_EQ(foreseen.last<Planned>()->tokens.prompt, done.figures.tokens.prompt);
    EXPECT_EQ(foreseen.last<Planned>()->tokens.visual, done.figures.tokens.visual);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, PlansOfFamilies,
                         ::testing::Values("gqa_tied", "qwen3_vl/published", "qwen3_5/published", "qwen3_5_moe/published",
                                           "smolvlm/smolvlm2_split", "internvl/chat_internlm2", "gemma3/plain_pillow",
                                           "gemma4_large/dense"),
                         folder_info_name);

class PlansOfLlavaVideos : public TinyModel, public ::testing::WithParamInterface<const char*> {
 protected:
  PlansOfLlavaVideos() : TinyModel(GetParam()) {}
};

// Frames with newlines after rows, after frames, without any: every preset plans what it then keeps.
TEST_P(PlansOfLlavaVideos, EveryPresetKeepsWhatItsPlanSays) {
  const std::int64_t visual = golden_.cases().at("video").at("visual_tokens");
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    const Turn turn = ask("video", method.name, method.name == "full" ? 1.0 : 0.5);
    if (recipe_problem(turn.recipe, info_.traits)) continue;
    run(ForgetConversation{7});
    const EventRecorder foreseen = run(Plan{turn});
    ASSERT_TRUE(foreseen.last<Planned>());
    const EventRecorder events = run(turn);
    EXPECT_EQ(foreseen.last<Planned>()->tokens.visual, finished(events).figures.tokens.visual);
    if (method.name == "full") {  // some presets drop tokens before the decoder
      EXPECT_EQ(foreseen.last<Planned>()->tokens.visual, visual);
    }
    EXPECT_EQ(foreseen.last<Planned>()->kv_bytes_after_event, events.last<CacheReport>()->kv_bytes.after_event);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, PlansOfLlavaVideos, ::testing::Values("video_grid", "video_frame", "video_no_token"), folder_info_name);

// The line under the box, while media are ready and a question is being written.
TEST_F(Plans, AQuestionAboutPreparedMediaTakesWhatItsPlanSays) {
  const Item clip = video(24);
  for (const MethodInfo& method : list_methods()) {
    if (!phase_facts(method.phase).before_question) continue;
    SCOPED_TRACE(method.name);
    run(ForgetConversation{3});
    const Turn turn = question({clip}, method.name, method.name == "kvzip-head" ? 0.6 : 0.15);
    ASSERT_TRUE(run(Prepare{turn}).last<Prepared>()->compressed);
    const Planned planned = plan(turn);
    const EventRecorder events = run(turn);
    ASSERT_TRUE(events.last<Finished>());
    const TurnFigures figures = events.last<Finished>()->figures;
    EXPECT_EQ(planned.kv_bytes_after_event, figures.kv_bytes.after_event);
    EXPECT_EQ(planned.kv_bytes_full, figures.kv_bytes.full);
    EXPECT_EQ(planned.tokens.prompt, figures.tokens.prompt);
    EXPECT_EQ(figures.tokens.visual, 0) << "prepared";
  }
}

TEST_F(Plans, PinsThatNeedMoreThanTheBudgetAreInThePlan) {
  const Item clip = video(24);
  for (const std::string method : {"vl-cache", "streaming-llm", "aircache", "fastv", "fastervlm"}) {
    Turn turn = question({clip}, method, 0.05);
    run(ForgetConversation{3});
    const std::int64_t without = plan(turn).kv_bytes_after_event;
    turn.pins = {{0, 4.0, 15.45}};  // the pictures of seconds 4 to 15, half of all
    for (const std::string state : {"before the video was read", "after"}) {
      const Planned planned = plan(turn);
      run(ForgetConversation{3});
      const EventRecorder events = run(turn);
      ASSERT_TRUE(events.last<CacheReport>()) << method;
      EXPECT_GT(planned.kv_bytes_after_event, without) << method;
      EXPECT_EQ(planned.kv_bytes_after_event, events.last<CacheReport>()->kv_bytes.after_event) << method << ", " << state;
      EXPECT_EQ(planned.tokens.prompt, events.last<Finished>()->figures.tokens.prompt) << method;
      run(ForgetConversation{3});
    }
  }
}

TEST_F(Plans, NothingIsDecodedAndTheConversationStaysAsItWas) {
  const Turn turn = question({video(20)}, "vl-cache", 0.2);
  plan(turn);
  EXPECT_EQ(opener_.pictures_read, 0);
  const Finished first = *run(turn).last<Finished>();
  Turn second = turn;
  second.messages.push_back({Role::kAssistant, {TextItem{first.answer}}});
  second.messages.push_back({Role::kUser, {TextItem{"And then?"}}});
  const Planned planned = plan(second);
  EXPECT_LT(planned.tokens.prompt, 40) << "the cache holds the first turn";
  plan(turn);  // asking again
  EXPECT_EQ(run(second).last<Finished>()->figures.tokens.prompt, planned.tokens.prompt);
  EXPECT_EQ(opener_.pictures_read, 20);
}

TEST_F(Plans, WhatIsLongerThanTheModelReadsDoesNotFit) {
  Turn turn = question({video(64)}, "vl-cache", 0.2);
  const std::int64_t prompt = plan(turn).tokens.prompt;
  turn.sampling.max_new_tokens = static_cast<int>(info_.context_tokens - prompt);
  EXPECT_TRUE(plan(turn).fits_context);
  EXPECT_TRUE(run(turn).last<Finished>().has_value());
  run(ForgetConversation{3});
  ++turn.sampling.max_new_tokens;
  const Planned planned = plan(turn);
  EXPECT_FALSE(planned.fits_context);
  EXPECT_EQ(planned.context_tokens, info_.context_tokens);
  const EventRecorder events = run(turn);
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kContextFull);
}

TEST_F(Plans, AnAnswerThatNobodyLimitsEndsWithTheContext) {
  Turn turn = question({video(64)}, "full", 1.0);
  const std::int64_t left = info_.context_tokens - plan(turn).tokens.prompt;
  turn.sampling.max_new_tokens = static_cast<int>(left) + 100;
  turn.sampling.room_tokens = 8;
  const Planned planned = plan(turn);
  EXPECT_TRUE(planned.fits_context);
  EXPECT_EQ(planned.tokens.generated, 8);
  turn.sampling.repetition_penalty = 1.3;  // a random model that says the same again and again still must not pass the end
  const Finished done = *run(turn).last<Finished>();
  EXPECT_LE(done.figures.tokens.generated, left);
  EXPECT_EQ(done.reason == StopReason::kLength, done.figures.tokens.generated == left);
  run(ForgetConversation{3});
  turn.sampling.room_tokens = static_cast<int>(left) + 1;
  EXPECT_FALSE(plan(turn).fits_context);
  EXPECT_EQ(run(turn).last<Failed>()->error.code, ErrorCode::kContextFull);
}

TEST_F(Plans, MemoryIsComparedWithWhatTheMachineHas) {
  Turn turn = question({}, "full", 1.0);
  const Planned small = plan(turn);
  EXPECT_GT(small.free_bytes, 0);
  EXPECT_TRUE(small.fits_memory);
  turn.sampling.max_new_tokens =
      static_cast<int>(std::min<std::int64_t>(std::int64_t{1} << 30, small.free_bytes / info_.kv_bytes_per_token * 2));
  EXPECT_EQ(plan(turn).fits_memory, turn.sampling.max_new_tokens < small.free_bytes / info_.kv_bytes_per_token);
}

TEST_F(Plans, TheWaitIsKnownAfterTheFirstTurnWithTheSameWork) {
  const Turn turn = question({video(16)}, "full", 1.0);
  EXPECT_EQ(plan(turn).expected_ms, 0.0);
  const Finished finished = *run(turn).last<Finished>();
  run(ForgetConversation{3});
  const Planned again = plan(turn);  // its features are kept: only the prefill is left
  EXPECT_NEAR(again.expected_ms, finished.figures.timings_ms.prefill, 0.3 * finished.figures.timings_ms.prefill + 1.0);
  const Turn other = question({video(16)}, "full", 1.0);
  const TimingsMs& took = finished.figures.timings_ms;
  const double work = took.media + took.preprocess + took.vision + took.prefill;
  const Planned of_other = plan(other);
  EXPECT_NEAR(of_other.expected_ms, work, 0.01 * work);
  EXPECT_NEAR(of_other.expected_encoder_ms, took.vision, 0.01 * work);
  EXPECT_NEAR(of_other.expected_reading_ms, took.media + took.preprocess, 0.01 * work);
  EXPECT_EQ(plan(question({image(64, 64)}, "full", 1.0)).expected_ms, 0.0) << "no image was ever encoded";
}

TEST_F(Plans, TheWaitIsKnownAfterAVideoWasPrepared) {
  const Turn turn = question({video(16)}, "self-study", 0.5);
  const Prepared prepared = *run(Prepare{turn}).last<Prepared>();
  ASSERT_TRUE(prepared.compressed);
  const Planned other = plan(question({video(16)}, "self-study", 0.5));
  EXPECT_GT(other.expected_encoder_ms, 0.0);
  EXPECT_GT(other.expected_ms, other.expected_encoder_ms);
  EXPECT_LT(other.expected_ms, 1.5 * prepared.elapsed_ms) << "what that took, and the question";
}

TEST_F(Plans, SpeedsOutliveTheEngine) {
  class Memory : public SpeedMemory {
   public:
    MachineSpeed recall(const std::string& key) override { return kept[key]; }
    void keep(const std::string& key, const MachineSpeed& speed) override { kept[key] = speed; }
    std::map<std::string, MachineSpeed> kept;
  };
  Memory memory;
  const Turn turn = question({video(8)}, "full", 1.0);
  double expected = 0.0;
  for (const bool first : {true, false}) {
    engine_ = make_engine(&opener_, &memory);
    SetUp();
    EXPECT_GT(info_.frame_ms, 0.0) << "guessed from the size of the encoder";
    if (!first) {
      EXPECT_EQ(info_.frame_ms, memory.kept.begin()->second.ms_per_frame);
    }
    const Planned planned = plan(turn);
    EXPECT_EQ(planned.expected_ms > 0.0, !first);
    EXPECT_EQ(planned.expected_ms, first ? 0.0 : expected);
    run(turn);
    ASSERT_EQ(memory.kept.size(), 1U);
    expected = memory.kept.begin()->second.first_wait({planned.tokens.prompt, 8, 0}).value_or(FirstWait()).total_ms();
  }
}

TEST(MachineSpeed, LearnsPerPartAndInterpolatesBetweenLengths) {
  MachineSpeed speed;
  EXPECT_FALSE(speed.first_wait({100, 0, 0}));
  TimingsMs timings;
  timings.prefill = 64.0;
  speed.add({64, 0, 0}, timings, 0.0);
  EXPECT_DOUBLE_EQ(speed.first_wait({64, 0, 0})->total_ms(), 64.0);
  EXPECT_FALSE(speed.first_wait({64, 3, 0})) << "no frame was measured";
  timings.prefill = 3.0 * 256.0;
  timings.vision = 50.0;
  timings.media = 30.0;
  speed.add({256, 8, 0}, timings, 20.0);
  EXPECT_DOUBLE_EQ(speed.ms_per_frame, 10.0);
  EXPECT_DOUBLE_EQ(speed.first_wait({0, 4, 0})->encoder_ms, 25.0) << "five eighths of 40 ms";
  EXPECT_DOUBLE_EQ(speed.first_wait({0, 4, 0})->reading_ms, 15.0);
  EXPECT_DOUBLE_EQ(speed.ms_per_generated_token, 50.0);
  // Class 6 took 1 ms a token, class 8 took 3: halfway up, in the middle of class 7, it is 2.
  const double middle = std::exp2(7.5);
  EXPECT_NEAR(speed.first_wait({std::llround(middle), 0, 0})->total_ms(), 2.0 * middle, 2.0);
  EXPECT_DOUBLE_EQ(speed.first_wait({1024, 0, 0})->total_ms(), 3.0 * 1024) << "beyond what was measured";
  timings.prefill = 256.0;
  speed.add({256, 8, 4}, timings, 0.0);
  EXPECT_DOUBLE_EQ(speed.prefill_ms_per_token.at(8), 2.0) << "new measurements count half";
  timings.prefill = 2.0 * 2.0 * 256.0;
  speed.add({256, 0, 0, 2}, timings, 0.0);
  EXPECT_DOUBLE_EQ(speed.prefill_ms_per_token.at(8), 2.0) << "of each of two passes";
  EXPECT_DOUBLE_EQ(speed.first_wait({1024, 0, 0, 2})->total_ms(), 2.0 * 2.0 * 1024);
  EXPECT_DOUBLE_EQ(speed.ms_per_frame, 10.0) << "frames and images together say nothing of either";
}

}  // namespace
}  // namespace winnow::testing
