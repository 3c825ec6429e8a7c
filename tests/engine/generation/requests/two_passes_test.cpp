// Prompts that are read twice (RecipeSpec::prefill_passes) on tiny random models: the same to the bit as read once, with one layer at a
// time in full.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "engine/kv_cache/kv_cache.h"
#include "engine/weights/safetensors.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"

namespace winnow::testing {
namespace {

Turn twice(Turn turn) {
  turn.recipe.prefill_passes = 2;
  return turn;
}

std::int64_t peak_of(const EventRecorder& events) { return events.last<CacheReport>()->kv_bytes.peak; }

class TwoPasses : public EveryFamily {
 protected:
  // Several blocks long.
  Turn question(const std::string& method) {
    Turn turn = ask("two_images", method, 0.2, 6);
    std::string text;
    for (int i = 0; i < 40; ++i) text += "a red circle, ";
    turn.messages.back().items.emplace_back(TextItem{text + "what is it?"});
    return turn;
  }

  // Logits, tokens and kept slots of the turn.
  std::string exported(const Turn& turn) {
    const std::string path = folder_.file("export.safetensors");
    finished(run(ExportTurn{turn, path, ExportLogits::kAllPositions}));
    return test::file_text(path);
  }
  // K and V of all that the engine holds of the conversation.
  // All that the cache holds. What the file says beside it names the recipe, and with that how often the prompt was read.
  std::string held() {
    const std::string path = folder_.file("held.safetensors");
    EXPECT_TRUE(run(SaveConversation{7, path, "this model"}).last<Saved>());
    const SafetensorsFile file(path);
    std::string all;
    for (const auto& [name, tensor] : file.tensors()) {
      if (name == "conversation" || name == "hash") continue;
      std::string bytes(tensor.bytes(), '\0');
      file.read(tensor, 0, std::as_writable_bytes(std::span(bytes)));
      all += name + bytes;
    }
    return all;
  }

  void gives_the_same(const Turn& first);
  // What a prefill that compacts each layer right after it was filled holds at most.
  std::int64_t peak_with_one_layer_in_full(const CacheReport& report, std::int64_t tokens) const;

  const test::ScratchFolder folder_;
};

void TwoPasses::gives_the_same(const Turn& first) {
  run(ForgetConversation{7});
  const EventRecorder once = run(first);
  const std::string once_held = held();
  const Turn second = follow_up(first, finished(once).answer, "And which of them is it that comes after the first one?");
  const EventRecorder once_later = run(second);
  const std::string once_held_later = held();

  run(ForgetConversation{7});
  const EventRecorder again = run(twice(first));
  EXPECT_EQ(finished(again).answer, finished(once).answer);
  EXPECT_EQ(again.last<CacheReport>()->kept, once.last<CacheReport>()->kept);
  EXPECT_TRUE(held() == once_held) << "keys or values differ";
  EXPECT_LE(peak_of(again), peak_of(once));
  const EventRecorder later = run(twice(second));
  EXPECT_EQ(finished(later).figures.tokens.visual, 0) << "it goes on from what is there";
  EXPECT_EQ(finished(later).answer, finished(once_later).answer);
  EXPECT_EQ(later.last<CacheReport>()->kept, once_later.last<CacheReport>()->kept);
  EXPECT_TRUE(held() == once_held_later) << "keys or values of the second turn differ";

  run(ForgetConversation{7});
  const std::string once_export = exported(first);
  run(ForgetConversation{7});
  EXPECT_TRUE(exported(twice(first)) == once_export) << "logits, tokens or kept slots differ";
}

std::int64_t TwoPasses::peak_with_one_layer_in_full(const CacheReport& report, std::int64_t tokens) const {
  const auto blocks_of = [](const std::vector<std::int32_t>& head) { return KvCache::blocks_for(std::ssize(head)); };
  std::int64_t held = 0;
  std::int64_t most = 0;
  for (const std::vector<std::vector<std::int32_t>>& layer : report.kept) {
    held += std::ssize(layer) * KvCache::blocks_for(tokens);
    most = std::max(most, held);
    std::int64_t fresh = 0;
    std::int64_t change = 0;
    for (const std::vector<std::int32_t>& head : layer) {
      if (std::ssize(head) == tokens) continue;
      std::int64_t still = 0;  // the first slots, as far as they do not move, stay in their blocks
      while (still < std::ssize(head) && head[static_cast<std::size_t>(still)] == still) ++still;
      fresh += blocks_of(head) - still / KvCache::kBlockSlots;
      change += blocks_of(head) - KvCache::blocks_for(tokens);
      most = std::max(most, held + fresh);
      if (on_gpu()) continue;
      held += std::exchange(change, 0);
      fresh = 0;
    }
    held += change;
  }
  return most * KvCache::kBlockSlots * info_.kv_bytes_per_token / (info_.layers * info_.kv_heads);
}

// A model with windows, and one that adds to what its first layers say, among them.
INSTANTIATE_TEST_SUITE_P(Families, TwoPasses,
                         ::testing::Values("gqa_tied", "qwen3_vl/published", "qwen3_5/published", "gemma3/pan_and_scan",
                                           "gemma3/narrow_window", "gemma4/published", "gemma4_large/dense"),
                         folder_info_name);

TEST_P(TwoPasses, GiveTheSameToTheBitUnderEveryPreset) {
  for (const MethodInfo& method : legal_methods()) {
    if (phase_facts(method.phase).before_question) continue;  // they read media otherwise, and what they prepare names its recipe
    SCOPED_TRACE(method.name);
    Turn turn = question(method.name);
    if (method.name == "full") turn.recipe.retention = 1.0;
    gives_the_same(turn);
  }
}

TEST_P(TwoPasses, GiveTheSameWhereEverythingIsCompressedAgain) {
  for (const char* method : {"vl-cache", "d2o", "snapkv"}) {
    SCOPED_TRACE(method);
    Turn turn = question(method);
    turn.recipe.turn_policy = TurnPolicy::kWhole;
    if (!recipe_problem(turn.recipe, info_.traits)) gives_the_same(turn);
  }
}

TEST_P(TwoPasses, HoldOneLayerInFullAsPlanned) {
  int gained = 0;
  for (const MethodInfo& method : legal_methods()) {
    SCOPED_TRACE(method.name);
    Turn turn = question(method.name);
    if (method.name == "full") turn.recipe.retention = 1.0;
    run(ForgetConversation{7});
    const Planned once = run(Plan{turn}).last<Planned>().value();
    const Planned planned = run(Plan{twice(turn)}).last<Planned>().value();
    EXPECT_FALSE(planned.twice) << "it is what was asked for";
    EXPECT_EQ(planned.kv_bytes_after_event, once.kv_bytes_after_event);
    if (!once.twice) {
      if (info_.traits.window == 0) {
        EXPECT_EQ(planned.peak_bytes, once.peak_bytes) << "nothing is gained";
      }
      continue;
    }
    EXPECT_LT(once.twice->peak_bytes, once.peak_bytes);
    EXPECT_EQ(once.twice->peak_bytes, planned.peak_bytes);
    const EventRecorder events = run(twice(turn));
    const Finished done = finished(events);
    EXPECT_LT(peak_of(events), once.peak_bytes);
    // How much of it each layer keeps is known when it is over: a block of every head at most.
    EXPECT_LE(std::abs(planned.peak_bytes - peak_of(events)), KvCache::kBlockSlots * info_.kv_bytes_per_token);
    if (info_.traits.window == 0) {
      EXPECT_EQ(peak_of(events), peak_with_one_layer_in_full(*events.last<CacheReport>(), done.figures.tokens.prompt));
    }
    ++gained;
  }
  if (info_.traits.window == 0) {
    EXPECT_GE(gained, 4) << "hardly any preset's budgets follow the prompt";
  }
}

class ReadTwice : public TinyModel {
 protected:
  static std::vector<Progress> prefill_of(const EventRecorder& events) {
    std::vector<Progress> found = events.all<Progress>();
    std::erase_if(found, [](const Progress& each) { return each.phase != Phase::kPrefill; });
    return found;
  }
};

TEST_F(ReadTwice, ProgressGoesOnOverBothPassesAndNothingIsCountedTwice) {
  const Turn turn = ask("image", "vl-cache", 0.2);
  const EventRecorder once = run(turn);
  run(ForgetConversation{7});
  const EventRecorder events = run(twice(turn));
  const std::vector<Progress> steps = prefill_of(events);
  ASSERT_EQ(std::ssize(steps), 2 * info_.layers);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].done, i);
    EXPECT_EQ(steps[i].total, steps.size());
  }
  EXPECT_EQ(std::ssize(prefill_of(once)), info_.layers);
  EXPECT_EQ(finished(events).figures.tokens.prompt, finished(once).figures.tokens.prompt);
  const std::vector<RetainedMass> mass = events.last<CacheReport>()->retained_mass;
  ASSERT_EQ(mass.size(), once.last<CacheReport>()->retained_mass.size());
  for (std::size_t i = 0; i < mass.size(); ++i) EXPECT_EQ(mass[i].mass, once.last<CacheReport>()->retained_mass[i].mass);
}

TEST_F(ReadTwice, TheWaitCountsBothPasses) {
  const Turn turn = ask("image", "vl-cache", 0.2);
  run(turn);
  run(ForgetConversation{7});
  const Planned once = run(Plan{turn}).last<Planned>().value();
  EXPECT_GT(once.expected_ms, 0.0);
  EXPECT_DOUBLE_EQ(run(Plan{twice(turn)}).last<Planned>()->expected_ms, 2.0 * once.expected_ms) << "the features are kept: no tower runs";
  EXPECT_EQ(run(Plan{twice(turn)}).last<Planned>()->tokens.prompt, once.tokens.prompt);
}

TEST_F(ReadTwice, EitherPassCanBeCancelled) {
  const Turn first = ask("image", "vl-cache", 0.3);
  const std::string answer = finished(run(first)).answer;
  Turn second = twice(follow_up(first, answer, "How many squares are there?"));
  second.messages.back() = golden_.message("two_images", opener_);
  for (const std::int64_t step : {std::int64_t{0}, info_.layers, 2 * info_.layers - 1}) {
    InterruptSource source;
    EventRecorder events;
    events.hook = [&](const Event& event) {
      const auto* progress = std::get_if<Progress>(&event.body);
      if (progress != nullptr && progress->phase == Phase::kPrefill && static_cast<std::int64_t>(progress->done) == step)
        source.request_cancel();
    };
    engine_->handle({3, second}, events, source.token());
    ASSERT_TRUE(events.last<Finished>());
    EXPECT_TRUE(events.last<Finished>()->restored) << step;
    EXPECT_EQ(std::ssize(prefill_of(events)), step + 1) << "it went on";
  }
  const Finished after = finished(run(second));
  run(ForgetConversation{7});
  run(first);
  second.recipe.prefill_passes = 1;
  EXPECT_EQ(finished(run(second)).answer, after.answer) << "what was cancelled left something behind";
}

// The first answer token's attention is over the whole cache, guard ram keeps it, and columns are forks of it.
TEST_F(ReadTwice, OneIsAllThereIsWhereTheWholeCacheIsNeeded) {
  const auto passes = [this](const EventRecorder& events) { return std::ssize(prefill_of(events)) / info_.layers; };
  Turn late = twice(ask("image", "d2o", 0.3));
  EXPECT_EQ(passes(run(late)), 2);
  late.recipe.options["event_at_first_decode"] = "true";
  run(ForgetConversation{7});
  EXPECT_EQ(passes(run(late)), 1);
  run(ForgetConversation{7});
  Turn guarded = twice(ask("image", "vl-cache", 0.3));
  guarded.guard = Guard::kRam;
  EXPECT_FALSE(run(Plan{guarded}).last<Planned>()->twice);
  EXPECT_EQ(passes(run(guarded)), 1);
  run(ForgetConversation{7});
  Compare compare = compare_of(guarded, {guarded.recipe});
  compare.scores = ColumnScores::kNone;
  EXPECT_EQ(passes(run(compare)), 1);
}

}  // namespace
}  // namespace winnow::testing
