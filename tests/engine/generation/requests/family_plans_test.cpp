// What a plan says is what then happens, on every golden folder: twenty random settings each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "engine/kv_cache/kv_cache.h"
#include "engine/recipes/method_info.h"
#include "tests/engine/generation/family_folder.h"

namespace winnow::testing {
namespace {

constexpr int kSettings = 20;

class FamilyPlans : public FamilyFolder {
 protected:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool one_in(int n) { return below(n) == 0; }

  // Some of them under a detail of their own.
  std::vector<Item> media() {
    std::vector<Item> items = media_as_the_model_has_it();
    constexpr DetailLevel kWords[] = {DetailLevel::kLow, DetailLevel::kMedium, DetailLevel::kHigh};
    for (Item& item : items) {
      if (!one_in(3)) continue;
      MediaDetail& detail = std::get<MediaItem>(item).media.detail;
      detail = one_in(2) ? MediaDetail{DetailLevel::kTokens, 4 + below(150)} : MediaDetail{kWords[below(3)]};
    }
    return items;
  }

  // What the model takes; sizes that are no multiple of anything.
  std::vector<Item> media_as_the_model_has_it() {
    if (!info_.traits.sees) return {};
    switch (below(info_.traits.reads_videos ? 5 : 3)) {
      case 0: return {};
      case 1: return {image(20 + below(70), 20 + below(70))};
      case 2: return {image(33, 20), image(20, 47)};
      case 3: return {video(2 + below(5))};
      default: return {image(40, 24), video(3)};
    }
  }

  std::string text(int most) {
    std::string words = "What is it?";
    for (int left = below(most); left > 10; left -= 10) words += " red round";
    return words;
  }

  // Any that is legal for the model.
  RecipeSpec recipe() {
    const std::vector<MethodInfo> methods = list_methods();
    for (;;) {
      RecipeSpec spec;
      spec.method = methods[static_cast<std::size_t>(below(static_cast<int>(methods.size())))].name;
      constexpr double kShares[] = {0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 1.0};
      spec.retention = spec.method == "full" ? 1.0 : kShares[below(7)];
      spec.min_event_tokens = one_in(3) ? 256 : 0;
      if (one_in(6)) spec.budget_tokens = 16 + below(60);
      if (one_in(5)) spec.scope = one_in(2) ? "all" : "visual";
      if (one_in(5)) spec.granularity = one_in(2) ? "head" : "layer";
      if (one_in(6)) spec.full_layers = 1;
      if (one_in(4)) spec.kv_bits = 4 << below(3);
      if (one_in(5)) spec.turn_policy = one_in(2) ? TurnPolicy::kFirstOnly : TurnPolicy::kWhole;
      if (!recipe_problem(test_support::as_measured(spec, info_.layers, info_.kv_heads), info_.traits)) return spec;
    }
  }

  // Of the first medium: all of an image, some frames of a video.
  std::vector<Pin> pins(const std::vector<Item>& items) {
    if (items.empty() || !one_in(3)) return {};
    const double from = below(2);
    return {{0, from, from + below(2) + 0.45}};  // a frame a second, told half a second later before it is decoded
  }

  Guard guard() {
    constexpr Guard kGuards[] = {Guard::kKeep, Guard::kKeep, Guard::kPrefill, Guard::kRam, Guard::kAlone};
    return kGuards[below(5)];
  }

  std::mt19937 random_{20};  // the same numbers on every folder and machine
};

INSTANTIATE_TEST_SUITE_P(Folders, FamilyPlans, family_folders(), folder_info_name);

TEST_P(FamilyPlans, TwentyRandomSettingsHappenAsPlanned) {
  // Room for two questions, where a character is a token.
  const int most = static_cast<int>(std::min<std::int64_t>(120, info_.context_tokens / 8));
  int done = 0;
  for (int drawn = 0; done < kSettings; ++drawn) {
    ASSERT_LT(drawn, 10 * kSettings) << "hardly any drawn setting runs";
    run(ForgetConversation{3});
    const std::vector<Item> items = media();
    Turn turn = question(items, text(most), recipe());
    turn.recipe.prefill_passes = 1 + drawn % 2;
    turn.pins = pins(items);
    turn.guard = guard();
    if (one_in(2)) {
      const EventRecorder first = run(turn);
      if (const auto failed = first.last<Failed>()) {
        ASSERT_EQ(failed->error.code, ErrorCode::kIllegalRecipe) << reason(first);
        continue;  // guards want methods that have a full cache
      }
      std::vector<Item> more = one_in(2) ? media() : std::vector<Item>{};
      more.emplace_back(TextItem{"And now?"});
      follow(turn, first.last<Finished>()->answer, std::move(more));
      turn.guard = one_in(2) ? guard() : turn.guard;
    }
    const std::string setting = turn.recipe.method + " " + std::to_string(turn.recipe.retention) + ", scope " + turn.recipe.scope +
                                ", per " + turn.recipe.granularity + ", guard " + std::to_string(static_cast<int>(turn.guard)) +
                                ", media " + std::to_string(items.size()) + ", messages " + std::to_string(turn.messages.size()) +
                                ", pins " + std::to_string(turn.pins.size()) + ", passes " + std::to_string(turn.recipe.prefill_passes);
    SCOPED_TRACE(setting);
    const EventRecorder said = run(Plan{turn});
    const EventRecorder events = run(turn);
    if (const auto failed = events.last<Failed>()) {
      ASSERT_EQ(failed->error.code, ErrorCode::kIllegalRecipe) << reason(events);
      continue;
    }
    ASSERT_TRUE(said.last<Planned>()) << reason(said);
    ASSERT_TRUE(events.last<Finished>());
    const Planned planned = *said.last<Planned>();
    const KvBytes bytes = events.last<CacheReport>()->kv_bytes;
    const TokenCounts tokens = events.last<Finished>()->figures.tokens;
    ++done;
    EXPECT_EQ(planned.tokens.prompt, tokens.prompt);
    EXPECT_EQ(planned.tokens.visual, tokens.visual);
    EXPECT_EQ(planned.tokens.text, tokens.text);
    EXPECT_EQ(planned.kv_bytes_full, bytes.full);
    // Where a method judges before what is asked is read, it depends on which slots stay how many of them a window passes by meanwhile: the
    // plan is the most (window_test.cpp has where it is exact).
    const bool window_decides = info_.traits.window > 0 && describe(turn.recipe)->before_question;
    EXPECT_GE(planned.kv_bytes_after_event, bytes.after_event);
    EXPECT_LE(planned.kv_bytes_after_event - bytes.after_event, window_decides ? info_.traits.window * info_.kv_bytes_per_token : 0);
    // Layers give blocks back one after the other, and how many is known beforehand only where budgets are: a block of every head at most,
    // on a GPU one of those that leave and one of those that come.
    const int blocks = info_.device == "cuda" ? 2 : 1;
    EXPECT_LE(std::abs(planned.peak_bytes - bytes.peak), blocks * KvCache::kBlockSlots * info_.kv_bytes_per_token);
    if (turn.recipe.method == "full") {
      EXPECT_EQ(planned.peak_bytes, bytes.peak);
    }
    EXPECT_TRUE(planned.fits_context && planned.fits_memory);
  }
}

}  // namespace
}  // namespace winnow::testing
