// Turn policy whole: an event over all slots of the cache, on conversations of several turns with decoding between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "engine/compression/candidates.h"
#include "engine/compression/compression_event.h"
#include "engine/compression/next_decode_policy.h"
#include "engine/compression/retained_slots.h"
#include "engine/compression/statistics/attention_statistics.h"
#include "engine/layers/shared_entry_attention.h"
#include "engine/recipes/methods/registry.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/engine/compression/named_composition.h"
#include "tests/support/kv_shape.h"
#include "tests/support/measured_options.h"

namespace winnow {
namespace {

constexpr std::int64_t kDim = 8;

using Modalities = std::vector<Modality>;

Modalities of(std::int64_t visual, std::int64_t text) {
  Modalities modality(static_cast<std::size_t>(visual), Modality::kVisual);
  modality.insert(modality.end(), static_cast<std::size_t>(text), Modality::kText);
  return modality;
}

std::int64_t slots_of_all(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// A conversation on random keys and queries, as engine/generation leads one.
class Conversation {
 public:
  Conversation(std::int64_t layers, std::int64_t heads, std::int64_t kv_heads) : heads_(heads), cache_(shape(layers, kv_heads)) {}

  static KvShape shape(std::int64_t layers, std::int64_t kv_heads) {
    KvShape shape = test_support::kv_shape(layers, kv_heads, kDim);
    shape.rotary.theta = 10000.0;
    return shape;
  }

  struct Outcome {
    bool compressed = false;
    std::vector<std::int64_t> budgets{};
    std::vector<std::int64_t> candidates{};  // of the first head, per layer
    std::vector<std::vector<std::int64_t>> foreseen;
  };

  // keys, queries: what every layer sees, [heads, n, d]; random if not given.
  Outcome turn(const Recipe& recipe, const Modalities& modality, const at::Tensor& keys = {}, const at::Tensor& queries = {}) {
    const KvShape& shape = cache_.shape();
    const auto n = static_cast<std::int64_t>(modality.size());
    const auto first = static_cast<std::int32_t>(origins_.size());
    for (const Modality each : modality) {
      TokenOrigin origin{.modality = each};
      origins_.push_back(origin);
    }
    SegmentInfo segment = testing::segment_of(modality, shape.layers, heads_, shape.kv_heads, first);
    RetainedSlots retained;
    if (recipe.whole_cache() && first > 0) {
      retained = take_retained(cache_, origins_, policy_.get());
      segment.retained = &retained;
    }
    SegmentCompressor compressor(recipe, segment);
    Outcome outcome{.foreseen = compressor.foreseen_slots().values()};
    std::vector<std::int32_t> original(modality.size());
    std::iota(original.begin(), original.end(), first);
    for (LayerId layer{0}; layer < shape.layers; ++layer) {
      LayerView view = testing::random_view(layer, heads_, shape.kv_heads, n, kDim, {}, 1.0 + static_cast<double>(layer));
      if (keys.defined()) view.key = keys.to(at::kFloat);
      if (queries.defined()) view.query = queries.to(at::kFloat);
      for (KvHead head{0}; first > 0 && head < shape.kv_heads; ++head) view.past_keys.push_back(runtime_keys(cache_, layer, head));
      testing::set_log_sum_exp(view);
      if (compressor.wants_views()) compressor.on_layer(view);
      cache_.append(layer, view.key, view.value, original);
      outcome.candidates.push_back(compressor.candidates(layer, KvHead(0)).info.tokens);
    }
    outcome.compressed = compressor.will_compress();
    for (LayerId layer{0}; outcome.compressed && layer < shape.layers; ++layer) apply_plan(cache_, compressor, layer, state_);
    if (outcome.compressed) outcome.budgets = compressor.budgets();
    policy_ = next_decode_policy(policy_.get(), recipe, compressor, cache_);
    return outcome;
  }

  void decode(std::int64_t tokens) {
    const KvShape& shape = cache_.shape();
    for (; tokens > 0; --tokens) {
      const std::vector<std::int32_t> original = {static_cast<std::int32_t>(origins_.size())};
      TokenOrigin origin;
      origins_.push_back(origin);
      at::manual_seed(static_cast<std::uint64_t>(original[0]));
      for (LayerId layer{0}; layer < shape.layers; ++layer) {
        cache_.append(layer, at::randn({shape.kv_heads, 1, kDim}), at::randn({shape.kv_heads, 1, kDim}), original);
        if (!policy_) continue;
        DecodeRow row;
        for (KvHead head{0}; policy_->wants_probabilities() && head < shape.kv_heads; ++head) {
          const std::int64_t seen = runtime_keys(cache_, layer, head).size(0);
          const at::Tensor attention = at::softmax(at::randn({seen}), 0).contiguous();
          row.probabilities.emplace_back(attention.const_data_ptr<float>(), attention.const_data_ptr<float>() + seen);
        }
        if (row.probabilities.empty()) row.probabilities.resize(static_cast<std::size_t>(shape.kv_heads));
        testing::after_layer(*policy_, cache_, layer, row, state_);
      }
    }
  }

  KvCache& cache() { return cache_; }
  const DecodePolicy* policy() const { return policy_.get(); }
  std::span<const TokenOrigin> origins() const { return origins_; }
  std::vector<std::int32_t> tokens(LayerId layer, KvHead head) const {
    const auto original = cache_.original(layer, head);
    std::vector<std::int32_t> tokens(original.begin(), original.end());
    std::sort(tokens.begin(), tokens.end());
    return tokens;
  }

 private:
  std::int64_t heads_;
  KvCache cache_;
  std::vector<TokenOrigin> origins_;
  std::unique_ptr<DecodePolicy> policy_;
  MergeState state_;
};

RecipeSpec spec_of(const std::string& method, double retention, TurnPolicy policy) {
  RecipeSpec spec{.method = method, .retention = retention, .min_event_tokens = 0, .turn_policy = policy};
  return test_support::as_measured(spec, 3, 2);
}

// The turn rule by hand: 8 tokens at 0.5 leave 4; 3 generated; 4 new: `segment` keeps 2 of them (9 slots), `whole` rnd(0.5 * 15) = 8.
TEST(WholeCache, TheTurnRulesFixture) {
  for (const TurnPolicy policy : {TurnPolicy::kSegment, TurnPolicy::kWhole}) {
    const Recipe recipe = Recipe::from_spec(spec_of("random", 0.5, policy));
    Conversation conversation(1, 2, 1);
    conversation.turn(recipe, of(6, 2));
    EXPECT_EQ(conversation.cache().slots(LayerId(0), KvHead(0)), 4);
    conversation.decode(3);
    const auto outcome = conversation.turn(recipe, of(0, 4));
    EXPECT_EQ(conversation.cache().slots(LayerId(0), KvHead(0)), policy == TurnPolicy::kWhole ? 8 : 9);
    EXPECT_EQ(outcome.candidates[0], policy == TurnPolicy::kWhole ? 11 : 4);
  }
}

// Where a later turn takes no event, all slots stay: those of earlier turns too.
TEST(WholeCache, WithoutAnEventEverySlotIsForeseen) {
  Conversation conversation(2, 4, 2);
  conversation.turn(Recipe::from_spec(spec_of("snapkv", 0.5, TurnPolicy::kWhole)), of(60, 20));
  RecipeSpec room = spec_of("snapkv", 0.5, TurnPolicy::kWhole);
  room.budget_tokens = 1000;
  const auto outcome = conversation.turn(Recipe::from_spec(room), of(0, 8));
  EXPECT_FALSE(outcome.compressed);
  EXPECT_EQ(outcome.foreseen, (std::vector<std::vector<std::int64_t>>(2, {48, 48})));
  EXPECT_EQ(conversation.cache().slots(LayerId(1), KvHead(1)), 48);
}

TEST(WholeCache, ScopeVisualCountsTheVisualTokensOfAllTurns) {
  const Recipe recipe = Recipe::from_spec(spec_of("aircache", 0.25, TurnPolicy::kWhole));
  Conversation conversation(1, 2, 1);
  conversation.turn(recipe, of(40, 8));
  conversation.turn(recipe, of(20, 8));
  EXPECT_EQ(conversation.cache().slots(LayerId(0), KvHead(0)), 15 + 16) << "a quarter of 60 visual tokens, and all text";
}

// Three turns and decoding between them, every method: exact totals, the new question kept, and the decode phase goes on from there.
TEST(WholeCache, EveryMethodOverThreeTurns) {
  constexpr std::int64_t kLayers = 3;
  for (const Method* entry : method_registry()) {
    SCOPED_TRACE(entry->name);
    const Composition parts = testing::composition_of(entry->name);
    if (parts.pruning || parts.scorer == nullptr || parts.scope == Scope::kContext) continue;  // the last: what stays is settled at once
    const Recipe recipe = Recipe::from_spec(spec_of(std::string(entry->name), 0.4, TurnPolicy::kWhole));
    Conversation conversation(kLayers, 4, 2);
    conversation.turn(recipe, of(150, 40));
    conversation.decode(12);
    for (const Modalities& next : {of(0, 45), of(60, 20)}) {
      const auto outcome = conversation.turn(recipe, next);
      const bool nothing_new =
          parts.scope == Scope::kVisual && next.front() == Modality::kText;  // the share of visual tokens is met already
      ASSERT_EQ(outcome.compressed, !nothing_new);
      if (nothing_new) continue;
      const std::int64_t seen = parts.scope == Scope::kAll
                                    ? std::ssize(conversation.origins())
                                    : std::count_if(conversation.origins().begin(), conversation.origins().end(),
                                                    [](const TokenOrigin& o) { return o.modality == Modality::kVisual; });
      EXPECT_EQ(slots_of_all(outcome.budgets), static_cast<std::int64_t>(std::floor(0.4 * static_cast<double>(kLayers * seen) + 0.5)));
      for (LayerId layer{0}; layer < kLayers; ++layer) {
        for (KvHead head{0}; head < 2; ++head) {
          const std::vector<std::int32_t> tokens = conversation.tokens(layer, head);
          EXPECT_EQ(std::set<std::int32_t>(tokens.begin(), tokens.end()).size(), tokens.size());
          EXPECT_EQ(tokens.back(), std::ssize(conversation.origins()) - 1) << "the last token stays";
          if (parts.scope == Scope::kAll) {
            EXPECT_EQ(std::ssize(tokens), outcome.budgets[static_cast<std::size_t>(layer)]);
          }
        }
      }
      const std::int64_t held = conversation.cache().bytes_in_use();
      conversation.decode(12);
      const std::int64_t appended = 12 * kLayers * 2 * conversation.cache().shape().slot_bytes();
      if (recipe.composition().phase == MethodPhase::kOnce) {
        EXPECT_EQ(conversation.cache().bytes_in_use(), held + appended);
      } else if (recipe.composition().phase == MethodPhase::kDecode) {
        EXPECT_EQ(conversation.cache().bytes_in_use(), held);
      } else {
        EXPECT_LT(conversation.cache().bytes_in_use(), held + appended);
      }
    }
  }
}

// Where the rows that judge lie in the new segment, two turns with everything kept in the first are one long prefill.
TEST(WholeCache, OnAFullCacheItIsTheEventOfOnePrefill) {
  at::manual_seed(5);
  const at::Tensor keys = at::randn({2, 100, kDim});
  const at::Tensor queries = at::randn({4, 100, kDim});
  for (const char* method : {"streaming-llm", "local-window", "snapkv", "pyramidkv", "vl-cache", "aircache", "random"}) {
    SCOPED_TRACE(method);
    const Recipe recipe = Recipe::from_spec(spec_of(method, 0.5, TurnPolicy::kWhole));
    Conversation at_once(2, 4, 2);
    Modalities all = of(60, 40);
    at_once.turn(recipe, all, keys, queries);
    Conversation in_two(2, 4, 2);
    in_two.turn(Recipe::from_spec(spec_of("full", 1.0, TurnPolicy::kSegment)), of(60, 0), keys.narrow(1, 0, 60), queries.narrow(1, 0, 60));
    ASSERT_TRUE(in_two.turn(recipe, of(0, 40), keys.narrow(1, 60, 40), queries.narrow(1, 60, 40)).compressed);
    for (LayerId layer{0}; layer < 2; ++layer) {
      for (KvHead head{0}; head < 2; ++head) EXPECT_EQ(in_two.tokens(layer, head), at_once.tokens(layer, head)) << layer << " " << head;
    }
  }
}

// What the policy of the answer had gathered counts on: attention of both turns' rows together is that of one prefill.
TEST(WholeCache, AccumulatedAttentionOfEarlierTurnsCounts) {
  at::manual_seed(6);
  const at::Tensor keys = at::randn({2, 100, kDim});
  const at::Tensor queries = at::randn({4, 100, kDim});
  for (const char* method : {"h2o", "roco", "d2o"}) {
    SCOPED_TRACE(method);
    RecipeSpec spec = spec_of(method, 0.5, TurnPolicy::kWhole);
    if (std::string(method) == "d2o") spec.allocator = "uniform";  // its variances are of the new rows alone
    spec.budget_tokens = 62;                                       // covers the first turn
    const Recipe recipe = Recipe::from_spec(spec);
    Conversation at_once(2, 4, 2);
    at_once.turn(recipe, of(60, 40), keys, queries);
    Conversation in_two(2, 4, 2);
    ASSERT_FALSE(in_two.turn(recipe, of(60, 0), keys.narrow(1, 0, 60), queries.narrow(1, 0, 60)).compressed);
    ASSERT_TRUE(in_two.turn(recipe, of(0, 40), keys.narrow(1, 60, 40), queries.narrow(1, 60, 40)).compressed);
    for (LayerId layer{0}; layer < 2; ++layer) {
      for (KvHead head{0}; head < 2; ++head) EXPECT_EQ(in_two.tokens(layer, head), at_once.tokens(layer, head)) << layer << " " << head;
    }
  }
}

// Of an extended segment a picture's rows, which see each other, lie behind the retained ones.
TEST(WholeCache, PicturesOfTheNewTurnLieBehindTheRetainedRows) {
  RetainedSlots retained{.kv_heads = 2};
  retained.heads.assign(2, {{0, 2, 5}, Modalities(3, Modality::kText), {}, {}, {}, {}});
  const Modalities modality = of(4, 2);
  SegmentInfo segment = testing::segment_of(modality, 1, 4, 2, 9);
  const std::vector<RowSpan> bidirectional = {{1, 3}};
  segment.bidirectional = bidirectional;
  segment.retained = &retained;
  const CandidateSets sets(segment);
  const Candidates& set = sets.of(LayerId(0), KvHead(0));
  ASSERT_EQ(set.info.bidirectional.size(), 1U);
  EXPECT_EQ(set.info.bidirectional.front(), (RowSpan{4, 3}));
  EXPECT_EQ(set.info.rows_that_saw(6), 5) << "all but the first of the new rows";

  LayerView view = testing::random_view(LayerId(0), 4, 2, 6, kDim, {3, 3});
  view.bidirectional = bidirectional;
  testing::set_log_sum_exp(view);
  StatisticsNeed need{.rows = RowRule::all(), .column_sums = true};
  const RowStatistics found = attention_statistics(set.view_of(view), set.info, need);
  const std::vector<at::Tensor> logits = testing::dense_logits(view);
  for (std::int64_t head = 0; head < 2; ++head) {
    const auto sums = [&](std::int64_t query) { return at::softmax(logits[static_cast<std::size_t>(query)], 1).sum(0); };
    const at::Tensor expected = (sums(2 * head) + sums(2 * head + 1)) / 2.0;
    for (std::int64_t column = 0; column < 9; ++column)
      EXPECT_NEAR(found.column_sums.row(KvHead(head))[static_cast<std::size_t>(column)], expected[column].item<double>(), 1e-5) << column;
  }
}

// A question of a few words is not dropped for having few rows: the short segment rule protects it, and older slots pay.
TEST(WholeCache, AShortQuestionStaysWhole) {
  RecipeSpec spec = spec_of("random", 0.2, TurnPolicy::kWhole);
  spec.min_event_tokens = 256;
  const Recipe recipe = Recipe::from_spec(spec);
  Conversation conversation(2, 4, 2);
  conversation.turn(recipe, of(150, 20));
  ASSERT_TRUE(conversation.turn(recipe, of(0, 20)).compressed);
  for (LayerId layer{0}; layer < 2; ++layer) {
    const std::vector<std::int32_t> tokens = conversation.tokens(layer, KvHead(0));
    EXPECT_EQ(tokens.size(), 38U) << "a fifth of 190";
    for (std::int32_t token = 170; token < 190; ++token) EXPECT_TRUE(std::binary_search(tokens.begin(), tokens.end(), token)) << token;
  }
}

TEST(WholeCache, AnAbsoluteBudgetHoldsOverAllTurnsByItself) {
  RecipeSpec spec = spec_of("h2o", 0.5, TurnPolicy::kSegment);
  spec.budget_tokens = 60;
  const Recipe recipe = Recipe::from_spec(spec);
  EXPECT_TRUE(recipe.whole_cache());
  Conversation conversation(2, 4, 2);
  for (int turn = 0; turn < 3; ++turn) {
    conversation.turn(recipe, of(80, 20));
    conversation.decode(10);
    for (LayerId layer{0}; layer < 2; ++layer) EXPECT_EQ(conversation.cache().slots(layer, KvHead(1)), 60);
  }
  spec.method = "snapkv";
  EXPECT_FALSE(Recipe::from_spec(spec).whole_cache()) << "decoding only appends";
}

// EMS: every live token becomes a slot with the key and value that a query met before.
TEST(WholeCache, SharedSlotsBecomeTheirTokens) {
  RecipeSpec spec = spec_of("ems", 0.3, TurnPolicy::kWhole);
  const Recipe recipe = Recipe::from_spec(spec);
  Conversation conversation(1, 4, 2);
  conversation.turn(recipe, of(150, 40));
  conversation.decode(5);
  KvCache& cache = conversation.cache();
  ASSERT_TRUE(cache.has_shared_entries(LayerId(0)));
  const at::Tensor query = at::randn({3, kDim});
  std::vector<SharedEntryAttention> before;
  for (KvHead head{0}; head < 2; ++head) before.push_back(shared_entry_attention(query, cache, LayerId(0), head, 0.35));
  const RetainedSlots retained = take_retained(cache, conversation.origins(), conversation.policy());
  EXPECT_FALSE(cache.has_shared_entries(LayerId(0)));
  for (KvHead head{0}; head < 2; ++head) {
    const RetainedHead& about = retained.at(LayerId(0), head);
    EXPECT_TRUE(std::is_sorted(about.original.begin(), about.original.end()));
    EXPECT_EQ(std::ssize(about.original), cache.slots(LayerId(0), head));
    EXPECT_EQ(about.sums.size(), about.original.size());
    EXPECT_GT(*std::max_element(about.sums.begin(), about.sums.end()), 0.0F);
    const at::Tensor weights = at::softmax(at::mm(query, cache.gather_keys(LayerId(0), head).t()) * 0.35, 1);
    const at::Tensor output = at::mm(weights, cache.gather_values(LayerId(0), head));
    EXPECT_LT((output - before[static_cast<std::size_t>(head)].output).abs().max().item<double>(), 1e-5);
  }
}

}  // namespace
}  // namespace winnow
