// Every request and every preset on the emulated GPU and on the CPU: the same answers, the same slots kept.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/recipes/method_info.h"
#include "tests/engine/emulated_gpu/emulated_device.h"
#include "tests/support/measured_options.h"
#include "tests/support/scratch_folder.h"

namespace winnow::testing {
namespace {

class OnBothDevices : public OnEmulatedGpu {
 protected:
  explicit OnBothDevices(const std::string& folder = "gqa_tied") : folder_(folder) {}

  void SetUp() override {
    OnEmulatedGpu::SetUp();
    if (HasFatalFailure()) return;
    cpu_ = std::make_unique<EngineOn>(Device::kCpu, folder_);
    gpu_ = std::make_unique<EngineOn>(Device::kCuda, folder_);
  }

  Turn ask(const std::string& name, const std::string& method, double retention, int tokens = 12) {
    Turn turn{.conversation = 7, .messages = {cpu_->question(name)}};
    gpu_->question(name);  // puts its pictures there
    turn.recipe.method = method;
    turn.recipe.retention = retention;
    turn.recipe.min_event_tokens = 0;
    turn.recipe = test_support::as_measured(turn.recipe, cpu_->info.layers, cpu_->info.kv_heads);
    turn.sampling.max_new_tokens = tokens;
    return turn;
  }

  struct Both {
    EventRecorder cpu;
    EventRecorder gpu;
    template <class Body>
    std::pair<Body, Body> last() const {
      EXPECT_TRUE(cpu.last<Body>()) << "CPU: " << EngineOn::reason(cpu);
      EXPECT_TRUE(gpu.last<Body>()) << "GPU: " << EngineOn::reason(gpu);
      return {cpu.last<Body>().value_or(Body{}), gpu.last<Body>().value_or(Body{})};
    }
  };
  Both run(const RequestBody& body) { return {cpu_->run(body), gpu_->run(body)}; }

  // Of a turn; its answer, for the next one.
  static std::string expect_same_turn(const Both& both) {
    const auto [cpu, gpu] = both.last<Finished>();
    EXPECT_EQ(gpu.answer, cpu.answer);
    EXPECT_EQ(gpu.reason, cpu.reason);
    EXPECT_EQ(gpu.figures.tokens.generated, cpu.figures.tokens.generated);
    EXPECT_EQ(gpu.figures.kv_bytes.end, cpu.figures.kv_bytes.end);
    expect_same_report(both);
    return cpu.answer;
  }
  static void expect_same_report(const Both& both) {
    const auto [cpu, gpu] = both.last<CacheReport>();
    EXPECT_EQ(gpu.kept, cpu.kept);
    EXPECT_EQ(gpu.merged, cpu.merged);
  }

  static Turn follow_up(Turn turn, const std::string& answer, const std::string& question) {
    turn.messages.push_back({Role::kAssistant, {TextItem{answer}}});
    turn.messages.push_back({Role::kUser, {TextItem{question}}});
    return turn;
  }

  // Of every preset that the model can be asked for, and a second turn.
  void expect_every_preset(const char* medium) {
    for (const MethodInfo& method : list_methods()) {
      SCOPED_TRACE(method.name);
      const Turn turn = ask(medium, method.name, method.name == "full" ? 1.0 : 0.3);
      if (recipe_problem(turn.recipe, cpu_->info.traits)) continue;
      const std::string answer = expect_same_turn(run(turn));
      expect_same_turn(run(follow_up(turn, answer, "And what is beside it?")));
      run(ForgetConversation{7});
    }
  }

  std::string folder_;
  std::unique_ptr<EngineOn> cpu_;
  std::unique_ptr<EngineOn> gpu_;
  test::ScratchFolder scratch_;
};

TEST_F(OnBothDevices, EveryPresetKeepsAndSaysTheSame) {
  for (const char* const medium : {"image", "video"}) expect_every_preset(medium);
}

// Qwen3.5: layers without slots, whose states come to the host with the full cache of guard ram and with a kept conversation.
class StatesOnBothDevices : public OnBothDevices {
 protected:
  StatesOnBothDevices() : OnBothDevices("qwen3_5/published") {}
};

TEST_F(StatesOnBothDevices, EveryPresetKeepsAndSaysTheSame) { expect_every_preset("image"); }

TEST_F(StatesOnBothDevices, TheFullCacheInMemoryGoesOnTheSameWay) {
  Turn turn = ask("image", "snapkv", 0.3);
  turn.guard = Guard::kRam;
  const Turn next = follow_up(turn, expect_same_turn(run(turn)), "How many are there?");
  expect_same_turn(run(follow_up(next, expect_same_turn(run(next)), "Why?")));
}

TEST_F(StatesOnBothDevices, AKeptConversationGoesOnTheSameWay) {
  const Turn turn = ask("image", "snapkv", 0.3);
  const std::string answer = expect_same_turn(run(turn));
  const auto [cpu, gpu] = run(SaveConversation{7, scratch_.file("kept"), "this model", std::int64_t{1} << 30}).last<Saved>();
  EXPECT_EQ(gpu.kv_bytes, cpu.kv_bytes);
  run(ForgetConversation{7});
  run(LoadConversation{7, scratch_.file("kept"), "this model"}).last<Restored>();
  expect_same_turn(run(follow_up(turn, answer, "And what is beside it?")));
}

TEST_F(OnBothDevices, EveryGuardGoesOnTheSameWay) {
  for (const Guard guard : {Guard::kKeep, Guard::kPrefill, Guard::kRam, Guard::kAlone}) {
    SCOPED_TRACE(static_cast<int>(guard));
    for (const char* method : {"snapkv", "self-study"}) {
      // What that one keeps does not depend on questions.
      if (method == std::string("self-study") && (guard == Guard::kPrefill || guard == Guard::kRam)) continue;
      Turn turn = ask("video", method, 0.3);
      turn.guard = guard;
      turn.pins = {{0, 0.0, 0.5}};
      const std::string answer = expect_same_turn(run(turn));
      const Turn next = follow_up(turn, answer, "How many are there?");
      expect_same_turn(run(follow_up(next, expect_same_turn(run(next)), "Why?")));
      run(ForgetConversation{7});
    }
  }
}

TEST_F(OnBothDevices, AnswersAreDrawnTheSame) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Turn turn = ask("image", "h2o", 0.5, 24);
    turn.sampling.temperature = 1.2;
    turn.sampling.top_p = 0.9;
    turn.sampling.repetition_penalty = 1.2;
    turn.sampling.seed = seed;
    expect_same_turn(run(turn));
    run(ForgetConversation{7});
  }
}

TEST_F(OnBothDevices, WhatIsPreparedIsAskedAbout) {
  const Turn turn = ask("video", "self-study", 0.3);
  const auto [cpu, gpu] = run(Prepare{turn}).last<Prepared>();
  EXPECT_TRUE(cpu.compressed && gpu.compressed);
  expect_same_turn(run(turn));
}

TEST_F(OnBothDevices, APlanForeseesTheSame) {
  const auto [cpu, gpu] = run(Plan{ask("video", "snapkv", 0.3)}).last<Planned>();
  EXPECT_EQ(gpu.kv_bytes_after_event, cpu.kv_bytes_after_event);
  EXPECT_EQ(gpu.peak_bytes, cpu.peak_bytes);
  EXPECT_TRUE(gpu.fits_memory);
  EXPECT_NE(gpu.free_bytes, cpu.free_bytes) << "of the GPU";
}

void expect_same_agreement(const Agreement& gpu, const Agreement& cpu) {
  EXPECT_EQ(gpu.tokens, cpu.tokens);
  EXPECT_DOUBLE_EQ(gpu.top1, cpu.top1);
  EXPECT_NEAR(gpu.mean_kl.value(), cpu.mean_kl.value(), 1e-4 + 1e-2 * std::abs(cpu.mean_kl.value()));
}

TEST_F(OnBothDevices, AnAnswerIsScoredTheSame) {
  const Turn turn = ask("image", "h2o", 0.3);
  const Both answered = run(turn);
  const std::string answer = expect_same_turn(answered);
  const auto [cpu, gpu] = run(Score{turn, answer, {}, answered.last<Finished>().first.reason}).last<Scored>();
  expect_same_agreement(gpu.agreement, cpu.agreement);
}

TEST_F(OnBothDevices, AComparisonHasTheSameColumns) {
  const Turn turn = ask("image", "full", 1.0);
  Compare compare{.conversation = turn.conversation, .messages = turn.messages, .sampling = turn.sampling};
  for (const char* method : {"full", "snapkv", "h2o", "d2o", "fastv"})
    compare.recipes.push_back(ask("image", method, method == std::string("full") ? 1.0 : 0.3).recipe);
  const Both both = run(compare);
  const auto [cpu, gpu] = both.last<Compared>();
  EXPECT_EQ(gpu.prefills, cpu.prefills);
  const std::vector<Finished> theirs = both.cpu.all<Finished>();
  const std::vector<Finished> ours = both.gpu.all<Finished>();
  ASSERT_EQ(ours.size(), compare.recipes.size());
  for (std::size_t column = 0; column < ours.size(); ++column) EXPECT_EQ(ours[column].answer, theirs[column].answer) << column;
  const std::vector<Scored> scores = both.gpu.all<Scored>();
  for (std::size_t column = 0; column < scores.size(); ++column)
    expect_same_agreement(scores[column].agreement, both.cpu.all<Scored>()[column].agreement);
}

TEST_F(OnBothDevices, AWatchedSourceIsAskedAbout) {
  Turn turn = ask("text", "kvzip-stream", 1.0);
  turn.guard = Guard::kAlone;
  turn.recipe.budget_tokens = 40;
  turn.messages = {watched_camera(0.5)};
  for (int clip = 0; clip < 3; ++clip) {
    std::vector<SampledFrame> frames;
    for (int i = 4 * clip; i < 4 * clip + 4; ++i) frames.push_back({0.5 * i, 0.5 * i, patterned_picture(20, 20, i)});
    const auto [cpu, gpu] = run(WatchClip{turn, clip == 0, std::move(frames)}).last<Watched>();
    EXPECT_EQ(gpu.slots, cpu.slots);
    EXPECT_EQ(gpu.kv_bytes, cpu.kv_bytes);
  }
  turn.messages.back().items.emplace_back(TextItem{"What is there?"});
  expect_same_turn(run(turn));
}

TEST_F(OnBothDevices, AKeptConversationGoesOnWhereItIsLoaded) {
  const Turn turn = ask("video", "snapkv", 0.3);
  const std::string answer = expect_same_turn(run(turn));
  const std::string path = scratch_.file("kept.safetensors");
  const EventRecorder saved = gpu_->run(SaveConversation{7, path, "this model"});
  ASSERT_TRUE(saved.last<Saved>()) << EngineOn::reason(saved);
  const Turn next = follow_up(turn, answer, "How many are there?");
  const std::string expected = expect_same_turn(run(next));
  run(ForgetConversation{7});
  const auto [cpu, gpu] = run(LoadConversation{7, path, "this model"}).last<Restored>();  // written on the one, read on both
  EXPECT_EQ(gpu.kv_bytes, cpu.kv_bytes);
  EXPECT_EQ(expect_same_turn(run(next)), expected);
}

}  // namespace
}  // namespace winnow::testing
