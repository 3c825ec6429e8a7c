// Pins: what the user pinned stays in every layer's and head's set, in every method, through events, answers and later turns.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "engine/base/error.h"
#include "engine/compression/compression_event.h"
#include "engine/compression/decode/attention_eviction.h"
#include "engine/compression/decode/ratio_removal.h"
#include "engine/compression/decode/recency_eviction.h"
#include "engine/compression/next_decode_policy.h"
#include "engine/compression/pinned_tokens.h"
#include "engine/compression/token_pruner.h"
#include "engine/layers/shared_entry_attention.h"
#include "engine/recipes/methods/registry.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/engine/compression/named_composition.h"
#include "tests/support/kv_shape.h"
#include "tests/support/measured_options.h"

namespace winnow {
namespace {

using Rows = std::vector<std::int32_t>;
using Modalities = std::vector<Modality>;

constexpr std::int64_t kLayers = 3;
constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kKvHeads = 2;
constexpr std::int64_t kGroup = kHeads / kKvHeads;
constexpr std::int64_t kHeadDim = 8;
constexpr double kScale = 0.35355339059327373;

Rows numbers(std::int32_t first, std::int64_t count) {
  Rows rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

RecipeSpec spec_of(const std::string& method, double retention) {
  RecipeSpec spec{.method = method, .retention = retention, .min_event_tokens = 0, .seed = 5};
  return test_support::as_measured(spec, kLayers, kKvHeads);
}

// A conversation of segments and decoded tokens over real attention, as engine/generation runs it.
class PinnedConversation {
 public:
  explicit PinnedConversation(const RecipeSpec& spec) : recipe_(Recipe::from_spec(spec)) {}

  // pins: rows of the segment.
  void turn(const Modalities& modality, const Rows& pins) {
    const auto n = static_cast<std::int64_t>(modality.size());
    for (const std::int32_t row : pins) pinned_.push_back(next_ + row);
    SegmentInfo info = testing::segment_of(modality, kLayers, kHeads, kKvHeads, next_);
    info.pinned = pinned_;
    SegmentCompressor compressor(recipe_, info);
    for (LayerId layer{0}; layer < kLayers; ++layer) {
      LayerView view = testing::random_view(layer, kHeads, kKvHeads, n, kHeadDim, {}, 1.0 + 2.0 * static_cast<double>(layer));
      if (next_ > 0) {
        for (KvHead head{0}; head < kKvHeads; ++head) view.past_keys.push_back(runtime_keys(cache_, layer, head));
      }
      testing::set_log_sum_exp(view);
      cache_.append(layer, view.key, view.value, numbers(next_, n));
      for (const std::int32_t row : pins) {
        key_of_[{layer, next_ + row}] = view.key.select(1, row).clone();
        value_of_[{layer, next_ + row}] = view.value.select(1, row).clone();
      }
      if (compressor.wants_views()) compressor.on_layer(view);
      if (compressor.will_compress() && recipe_.needs().probe)
        compressor.on_probe(layer, testing::random_votes(layer, compressor.segment()));
    }
    if (compressor.will_compress()) {
      for (LayerId layer{0}; layer < kLayers; ++layer) apply_plan(cache_, compressor, layer, state_);
    }
    notes_ = compressor.notes();
    budgets_ = compressor.budgets();
    next_ += static_cast<std::int32_t>(n);
    policy_ = next_decode_policy(policy_.get(), recipe_, compressor, cache_);
  }

  void decode(int tokens) {
    for (int i = 0; i < tokens; ++i, ++next_) {
      for (LayerId layer{0}; layer < kLayers; ++layer) {
        cache_.append(layer, at::randn({kKvHeads, 1, kHeadDim}), at::randn({kKvHeads, 1, kHeadDim}), Rows{next_});
        if (!policy_) continue;
        DecodeRow row;
        for (KvHead head{0}; policy_->wants_probabilities() && head < kKvHeads; ++head) {
          const at::Tensor query = at::randn({kGroup, kHeadDim});
          const at::Tensor each = cache_.shared_entries(layer, head) != nullptr
                                      ? shared_entry_attention(query, cache_, layer, head, kScale, true).probabilities
                                      : at::softmax(at::mm(query, cache_.gather_keys(layer, head).t()) * kScale, 1);
          const at::Tensor mean = each.mean(0).contiguous();
          row.probabilities.emplace_back(mean.const_data_ptr<float>(), mean.const_data_ptr<float>() + mean.numel());
        }
        testing::after_layer(*policy_, cache_, layer, row, state_);
      }
    }
  }

  void expect_pins_kept(const char* when) const {
    for (LayerId layer{0}; layer < kLayers; ++layer) {
      for (KvHead head{0}; head < kKvHeads; ++head) {
        const std::span<const std::int32_t> original = cache_.original(layer, head);
        for (const std::int32_t token : pinned_) {
          ASSERT_NE(std::find(original.begin(), original.end(), token), original.end())
              << when << ": token " << token << " left layer " << layer << ", head " << head;
        }
      }
    }
  }

  // Nothing was merged into them either: only where the method merges nothing, or shares slots.
  void expect_pins_untouched() const {
    for (const std::int32_t token : pinned_) {
      for (LayerId layer{0}; layer < kLayers; ++layer) {
        for (KvHead head{0}; head < kKvHeads; ++head) {
          const std::span<const std::int32_t> original = cache_.original(layer, head);
          const auto slot = std::find(original.begin(), original.end(), token) - original.begin();
          const auto [key, value] = cache_.row_views(layer, head, slot);
          ASSERT_TRUE(at::equal(key, key_of_.at({layer, token})[head])) << token;
          ASSERT_TRUE(at::equal(value, value_of_.at({layer, token})[head])) << token;
        }
      }
    }
  }

  std::int64_t slots(LayerId layer) const { return cache_.slots(layer, KvHead(0)); }
  const std::vector<std::int64_t>& budgets() const { return budgets_; }
  const SegmentCompressor::Notes& notes() const { return notes_; }
  const Recipe& recipe() const { return recipe_; }
  const KvCache& cache() const { return cache_; }

 private:
  static KvCache empty_cache() {
    KvShape shape = test_support::kv_shape(kLayers, kKvHeads, kHeadDim);
    shape.rotary.theta = 10000.0;
    return KvCache(shape);
  }

  Recipe recipe_;
  KvCache cache_ = empty_cache();
  MergeState state_;
  std::unique_ptr<DecodePolicy> policy_;
  Rows pinned_;
  std::int32_t next_ = 0;
  SegmentCompressor::Notes notes_;
  std::vector<std::int64_t> budgets_;
  std::map<std::pair<std::int64_t, std::int32_t>, at::Tensor> key_of_, value_of_;
};

class PinnedPreset : public ::testing::TestWithParam<std::string> {};

TEST_P(PinnedPreset, KeepsPinsAtTwoPercentThroughAnswersAndTurns) {
  const c10::InferenceMode inference;
  PinnedConversation conversation(spec_of(GetParam(), 0.02));
  conversation.turn(testing::image_then_text(5, 150, 20), numbers(40, 9));
  conversation.expect_pins_kept("after the event");
  conversation.decode(300);
  conversation.expect_pins_kept("after 300 tokens");
  conversation.turn(testing::image_then_text(0, 90, 12), numbers(61, 9));
  conversation.expect_pins_kept("after the second event");
  conversation.decode(300);
  conversation.expect_pins_kept("after 300 tokens more");
  const Reducer& reducer = *conversation.recipe().composition().reducer;
  if (!reducer.merges() || reducer.sharing() != nullptr) conversation.expect_pins_untouched();
}

// More pins than slots, over absolute budgets too: the budget is raised to what they need, and says so.
TEST_P(PinnedPreset, PinsAboveTheBudgetRaiseIt) {
  const c10::InferenceMode inference;
  RecipeSpec absolute = spec_of(GetParam(), 0.02);
  absolute.budget_tokens = 12;
  for (const RecipeSpec& spec : {spec_of(GetParam(), 0.1), absolute}) {
    PinnedConversation conversation(spec);
    conversation.turn(testing::image_then_text(5, 150, 20), numbers(10, 60));
    conversation.expect_pins_kept("after the event");
    conversation.decode(120);
    conversation.expect_pins_kept("after 120 tokens");
    if (!conversation.recipe().compresses()) continue;
    EXPECT_TRUE(conversation.notes().pins_above_budget);
    EXPECT_FALSE(conversation.notes().raised_to_floor) << "one cause is told once";
    for (const std::int64_t budget : conversation.budgets()) EXPECT_GE(budget, 60);
    for (const std::int64_t budget : conversation.budgets()) EXPECT_LT(budget, 110) << "and to not much more";
  }
}

std::vector<std::string> presets() {
  std::vector<std::string> names;
  for (const Method* entry : method_registry()) {
    if (!testing::composition_of(entry->name).pruning) names.emplace_back(entry->name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(AllMethods, PinnedPreset, ::testing::ValuesIn(presets()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  std::replace(name.begin(), name.end(), '+', 'P');
  return name;
});

// Parts of any methods put together, pins anywhere.
TEST(PinnedRecipes, AnyLegalMixtureKeepsItsPins) {
  const c10::InferenceMode inference;
  std::mt19937 random(97);
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); };
  const std::vector<std::string> names = presets();
  const auto any = [&] { return names[static_cast<std::size_t>(pick(1, std::ssize(names) - 1))]; };  // the first is full
  int legal = 0;
  for (int tried = 0; legal < 120; ++tried) {
    ASSERT_LT(tried, 3000);
    RecipeSpec spec = spec_of(any(), static_cast<double>(pick(1, 400)) / 1000.0);
    if (pick(0, 1) == 1) spec.allocator = any();
    if (pick(0, 1) == 1) spec.scorer = any();
    if (pick(0, 1) == 1) spec.reducer = any();
    if (pick(0, 3) == 0) spec.scope = pick(0, 1) == 0 ? "all" : "visual";
    if (pick(0, 3) == 0) spec.granularity = pick(0, 1) == 0 ? "head" : "layer";
    if (pick(0, 4) == 0) spec.budget_tokens = static_cast<int>(pick(1, 80));
    SCOPED_TRACE(::testing::Message() << spec.method << " + " << spec.allocator << " + " << spec.scorer << " + " << spec.reducer
                                      << ", scope " << spec.scope << ", budget " << spec.budget_tokens.value_or(0) << ", retention "
                                      << spec.retention);
    std::optional<PinnedConversation> conversation;
    try {
      conversation.emplace(spec);
    } catch (const Exception&) {
      continue;  // refused
    }
    ++legal;
    const std::int64_t visual = pick(20, 90);
    const std::int64_t before = pick(0, 6);
    Rows pins;
    for (std::int32_t row = 0; row < visual; ++row) {
      if (pick(0, 7) == 0) pins.push_back(static_cast<std::int32_t>(before) + row);
    }
    conversation->turn(testing::image_then_text(before, visual, pick(0, 20)), pins);
    conversation->expect_pins_kept("after the event");
    conversation->decode(50);
    conversation->expect_pins_kept("after 50 tokens");
    if (::testing::Test::HasFatalFailure()) return;
  }
}

Rows kept_by(const RecipeSpec& spec, const Modalities& modality, const Rows& pins, SegmentCompressor::Notes& notes) {
  const Recipe recipe = Recipe::from_spec(spec);
  SegmentInfo info = testing::segment_of(modality, 1, 2, 1);
  info.pinned = pins;
  SegmentCompressor compressor(recipe, info);
  notes = compressor.notes();
  if (!compressor.will_compress()) return numbers(0, info.tokens);
  if (compressor.wants_views()) {
    LayerView view = testing::att8_view();
    compressor.on_layer(view);
  }
  return compressor.plan(LayerId(0)).kept.front();
}

// The fixture's eight tokens, S V V V V T T T.
TEST(PinnedRows, ComeBeforeTheLastTokenRecentOnesAndSinks) {
  const Modalities& modality = testing::att8_modality();
  SegmentCompressor::Notes notes;
  RecipeSpec window = spec_of("local-window", 1.0);
  window.budget_tokens = 4;
  EXPECT_EQ(kept_by(window, modality, {}, notes), (Rows{4, 5, 6, 7}));
  EXPECT_EQ(kept_by(window, modality, {2, 3}, notes), (Rows{2, 3, 6, 7}));
  EXPECT_FALSE(notes.pins_above_budget || notes.raised_to_floor);
  window.budget_tokens = 2;
  EXPECT_EQ(kept_by(window, modality, {2, 3}, notes), (Rows{2, 3, 7})) << "the floor has room for the last token";
  EXPECT_TRUE(notes.raised_to_floor);
  EXPECT_FALSE(notes.pins_above_budget);
  window.budget_tokens = 1;
  EXPECT_EQ(kept_by(window, modality, {2, 3}, notes), (Rows{2, 3, 7}));
  EXPECT_TRUE(notes.pins_above_budget);
  EXPECT_FALSE(notes.raised_to_floor);
}

TEST(PinnedRows, TakeSlotsOfTheBestScored) {
  const Modalities& modality = testing::att8_modality();
  SegmentCompressor::Notes notes;
  RecipeSpec h2o = spec_of("h2o", 1.0);
  h2o.budget_tokens = 4;
  const Rows free = kept_by(h2o, modality, {}, notes);
  EXPECT_FALSE(std::binary_search(free.begin(), free.end(), 3));
  const Rows pinned = kept_by(h2o, modality, {3}, notes);
  EXPECT_EQ(pinned.size(), 4U) << "inside the budget";
  EXPECT_TRUE(std::binary_search(pinned.begin(), pinned.end(), 3));
  EXPECT_EQ(pinned.back(), 7);
}

TEST(PinnedRows, CompeteAmongVisualTokensOnlyWhereOthersAreNoCandidates) {
  const Modalities& modality = testing::att8_modality();
  SegmentCompressor::Notes notes;
  RecipeSpec aircache = spec_of("aircache", 0.25);  // one of four visual tokens
  EXPECT_EQ(kept_by(aircache, modality, {3}, notes), (Rows{0, 3, 5, 6, 7}));
  EXPECT_FALSE(notes.pins_above_budget);
  EXPECT_EQ(kept_by(aircache, modality, {2, 3}, notes), (Rows{0, 2, 3, 5, 6, 7}));
  EXPECT_TRUE(notes.pins_above_budget);
}

TEST(PinnedRows, StayBesideAllText) {
  const Modalities& modality = testing::att8_modality();
  SegmentCompressor::Notes notes;
  RecipeSpec look_m = spec_of("look-m", 0.2);
  look_m.options["text_policy"] = "hard";
  const Rows kept = kept_by(look_m, modality, {1, 2}, notes);
  for (const std::int32_t row : {0, 1, 2, 5, 6, 7}) EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), row)) << row;
}

TEST(PinnedRows, ThatCoverTheSegmentLeaveNothingToCompress) {
  const Modalities visual(10, Modality::kVisual);
  const Rows pins = numbers(0, 10);
  const Recipe recipe = Recipe::from_spec(spec_of("streaming-llm", 0.3));
  SegmentInfo info = testing::segment_of(visual, 2, 2, 1);
  info.pinned = pins;
  const SegmentCompressor compressor(recipe, info);
  EXPECT_FALSE(compressor.will_compress());
  EXPECT_TRUE(compressor.notes().pins_above_budget);
}

TEST(PinnedRows, OfEarlierSegmentsAreNotThisSegments) {
  SegmentInfo info = testing::segment_of(testing::att8_modality(), 1, 2, 1, 100);
  const Rows pins = {3, 99, 100, 104, 107, 108, 400};
  info.pinned = pins;
  EXPECT_EQ(info.pinned_rows(), (Rows{0, 4, 7}));
}

TEST(PinnedRows, StayInTheNetworkWhereOthersArePruned) {
  const Recipe recipe = Recipe::from_spec(spec_of("fastv", 0.25));
  SegmentInfo info = testing::att8_segment(4);
  Rows pins = {3};
  info.pinned = pins;
  const auto rows_of = [&] {
    TokenPruner pruner(recipe, info);
    pruner.on_layer(testing::att8_view(LayerId(0)));
    pruner.on_layer(testing::att8_view(LayerId(1)));
    EXPECT_EQ(pruner.pins_above_budget(), pins.size() > 1);
    return pruner.kept_rows();
  };
  EXPECT_EQ(rows_of(), (Rows{0, 3, 5, 6, 7})) << "the least attended, but pinned";
  pins = {2, 3};
  info.pinned = pins;
  EXPECT_EQ(rows_of(), (Rows{0, 2, 3, 5, 6, 7}));
}

TEST(PinnedTokens, AreFoundByTheirIndex) {
  const Rows tokens = {2, 7, 8, 70};
  const PinnedTokens pinned{tokens};
  EXPECT_EQ(pinned.count(), 4);
  EXPECT_EQ(pinned.count_from(8), 2);
  EXPECT_EQ(pinned.count_from(0), 4);
  for (std::int32_t token = -3; token < 90; ++token) {
    EXPECT_EQ(pinned.contains(token), std::find(tokens.begin(), tokens.end(), token) != tokens.end()) << token;
  }
  EXPECT_FALSE(PinnedTokens().contains(0));
  EXPECT_EQ(PinnedTokens().count_from(4), 0);
}

KvCache filled(std::int64_t tokens) {
  KvCache cache(test_support::kv_shape(1, 1, 2));
  cache.append(LayerId(0), at::randn({1, tokens, 2}), at::randn({1, tokens, 2}), numbers(0, tokens));
  return cache;
}

Rows tokens_of(const KvCache& cache) {
  Rows tokens(cache.original(LayerId(0), KvHead(0)).begin(), cache.original(LayerId(0), KvHead(0)).end());
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

TEST(PinnedDecode, TheOldestThatIsNotPinnedLeaves) {
  KvCache cache = filled(8);
  MergeState state;
  const Rows tokens = {1, 4};
  RecencyEviction policy({6}, 1, 1, PinnedTokens(tokens));
  testing::after_layer(policy, cache, LayerId(0), {}, state);  // two at once
  EXPECT_EQ(tokens_of(cache), (Rows{0, 1, 4, 5, 6, 7}));
  for (std::int32_t token = 8; token < 40; ++token) {
    cache.append(LayerId(0), at::randn({1, 1, 2}), at::randn({1, 1, 2}), Rows{token});
    testing::after_layer(policy, cache, LayerId(0), {}, state);
  }
  EXPECT_EQ(tokens_of(cache), (Rows{0, 1, 4, 37, 38, 39}));
  EXPECT_THROW(RecencyEviction({3}, 1, 1, PinnedTokens(tokens)), Exception) << "no room beside a sink and two pins";
}

TEST(PinnedDecode, TheFixedDistanceGoesToTheNextThatIsNotPinned) {
  MergeState state;
  const auto left_by = [&](std::int64_t distance, const Rows& tokens) {
    KvCache cache = filled(8);
    RatioRemoval policy({{7.0 / 8.0, 8}}, distance, 1, 1, PinnedTokens(tokens));
    testing::after_layer(policy, cache, LayerId(0), {}, state);
    return tokens_of(cache);
  };
  EXPECT_EQ(left_by(-4, {}), (Rows{0, 1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(left_by(-4, {4, 5}), (Rows{0, 1, 2, 3, 4, 5, 7}));
  EXPECT_EQ(left_by(-2, {6, 7}), (Rows{0, 1, 2, 3, 4, 6, 7})) << "none after it: the one before";
  EXPECT_EQ(left_by(-4, numbers(0, 8)), numbers(0, 8));
}

TEST(PinnedDecode, TheLeastAttendedThatIsNotPinnedLeaves) {
  KvCache cache = filled(5);
  MergeState state;
  const Rows tokens = {1, 3};
  const auto& parts = testing::composition_of("h2o");
  SlotAttention attention{{.4F, .0F, .3F, .1F}, {}, {4, 3, 2, 1}};
  AttentionEviction policy({4}, parts, 1, {attention}, PinnedTokens(tokens));
  testing::after_layer(policy, cache, LayerId(0), {{{.1F, .1F, .1F, .1F, .6F}}}, state);
  EXPECT_EQ(tokens_of(cache), (Rows{0, 1, 3, 4})) << "2 has more than both pins";
}

}  // namespace
}  // namespace winnow
