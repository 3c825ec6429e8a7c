// EMS: the fixture's event and decode step, the runtime against a dense expansion, and what holds over thousands of tokens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/compression/decode/nearest_slots.h"
#include "engine/compression/decode/shared_entry_merging.h"
#include "engine/compression/reducers/shared_entries.h"
#include "engine/layers/attention.h"
#include "engine/layers/rotary.h"
#include "engine/layers/shared_entry_attention.h"
#include "engine/recipes/scorers/global_local.h"
#include "engine/recipes/select.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/engine/compression/named_composition.h"
#include "tests/support/kv_shape.h"

namespace winnow {
namespace {

using Rows = std::vector<std::int32_t>;
constexpr double kTolerance = 1e-5;

KvShape shape_of(std::int64_t kv_heads, std::int64_t head_dim, double rope_theta = 0.0) {
  KvShape shape = test_support::kv_shape(1, kv_heads, head_dim);
  shape.rotary.theta = rope_theta;
  return shape;
}

Rows numbers(std::int32_t first, std::int32_t count) {
  Rows rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

// One kv head, d = 2, a window of 2, four slots, gamma 1.5, tau 0.6, no pooling, no rotary.
class EmsFixture : public ::testing::Test {
 protected:
  EmsFixture() {
    rule.magnification = 1.5;
    rule.least_similarity = 0.6;
    keys = at::tensor({2., 0., 1.8, .6, 1., 1., -1., .5, 0., 1., .5, -1., .2, 1.2, 1., -.5, .8, .4}).to(at::kFloat).view({9, 2});
    values = at::tensor({1., 0., .9, .1, 1., -1., 0., 1., 0., 2., 2., 2., .1, 1.5, 1., 1., -1., 1.}).to(at::kFloat).view({9, 2});
    weight = global_local(global, local);
    kept = select_rows(weight, 4, Rows{6, 7});
  }

  SharedRows event() const { return share_rows(rule, keys.narrow(0, 0, 8), values.narrow(0, 0, 8), kept, Rows{0, 1}, weight, weight); }

  // The cache after the event, and the decode policy over it.
  KvCache cache_after_event() const {
    KvCache cache(shape_of(1, 2));
    cache.append(LayerId(0), keys.narrow(0, 0, 8).unsqueeze(0), values.narrow(0, 0, 8).unsqueeze(0), numbers(0, 8));
    LayerPlan plan;
    plan.budget = 4;
    plan.kept = {kept};
    cache.compact(LayerId(0), 8, plan);
    const SharedRows rows = event();
    cache.write(LayerId(0), KvHead(0), 0, rows.directions, rows.values);
    cache.set_shared_entries(LayerId(0), KvHead(0), {rows.row, rows.target, rows.norm, SharedEntries::Rotation::kStored, false});
    return cache;
  }
  SharedEntryMerging policy() const {
    SharedEntryMerging::Head head;
    for (const std::size_t token : {0, 1, 2, 4}) head.table.push_back({global[token], local[token], 0.0F});
    for (const std::size_t token : {6, 7}) head.window.push_back({static_cast<std::int32_t>(token), {global[token], local[token], 0.0F}});
    return SharedEntryMerging(2, rule, {4}, 1, {head});
  }

  const std::vector<float> global = {3.0F, 1.2F, .9F, .4F, 1.0F, .6F, .5F, .4F};
  const std::vector<float> local = {.5F, .3F, .1F, .1F, .4F, .2F, .25F, .15F};
  SharingRule rule;
  at::Tensor keys, values;
  std::vector<float> weight;
  Rows kept;
};

TEST_F(EmsFixture, GlobalLocalScore) {
  testing::expect_near(weight, {.75, .3, .225, .1, .4, .2, .25, .15});
  testing::expect_near(pool_scores(weight, 3, Pooling::kAverage), {.350000, .425000, .208333, .241667, .233333, .283333, .200000, .133333});
}

TEST_F(EmsFixture, TheEventSharesSlots) {
  EXPECT_EQ(kept, (Rows{0, 4, 6, 7}));
  const SharedRows rows = event();
  EXPECT_EQ(rows.row, (Rows{0, 1, 2, 4}));  // 3 and 5 are evicted
  EXPECT_EQ(rows.target, (Rows{0, 0, SharedEntries::kZero, 1}));
  testing::expect_near(rows.norm, {2.000000, 1.897367, 1.414214, 1.000000});
  testing::expect_near(rows.directions, {.985338, .090351, 0., 1.});
  testing::expect_near(rows.values, {.971429, .028571, 0., 2.});
}

TEST_F(EmsFixture, SimilarityIsTheProductOfKeyAndValueCosine) {
  const at::Tensor centres = at::tensor(std::vector<std::int64_t>{0, 4});
  const auto with = [&](std::int64_t row) {
    const UnitSlot one = unit_slot(keys[row], values[row], SlotLikeness::kKeysAndValues);
    return likeness_of(keys.index_select(0, centres), values.index_select(0, centres), one);
  };
  testing::expect_near(with(1), {.942881, .034922});
  testing::expect_near(with(2), {.500000, -.500000});
}

TEST_F(EmsFixture, AttentionOverSharedSlots) {
  KvCache cache = cache_after_event();
  cache.append(LayerId(0), keys.narrow(0, 8, 1).unsqueeze(0), values.narrow(0, 8, 1).unsqueeze(0), Rows{8});
  const at::Tensor query = at::tensor({1., .5}).to(at::kFloat).view({1, 2});
  const SharedEntryAttention attention = shared_entry_attention(query, cache, LayerId(0), KvHead(0), 1.0 / std::sqrt(2.0), true);
  testing::expect_near(attention.probabilities, {.282687, .262317, 0., .093740, .115892, .111866, .133497});
  testing::expect_near(attention.output, {.519391, .622254});
}

TEST_F(EmsFixture, ADecodeStepMergesTheLeastSlot) {
  KvCache cache = cache_after_event();
  SharedEntryMerging merging = policy();
  cache.append(LayerId(0), keys.narrow(0, 8, 1).unsqueeze(0), values.narrow(0, 8, 1).unsqueeze(0), Rows{8});
  MergeState state;
  testing::after_layer(merging, cache, LayerId(0), DecodeRow{{{.282687F, .262317F, 0.F, .093740F, .115892F, .111866F, .133497F}}}, state);
  const SharedEntries& table = *cache.shared_entries(LayerId(0), KvHead(0));
  EXPECT_EQ(table.original, (Rows{0, 1, 4, 6}));  // the masked token 2 made room
  ASSERT_EQ(cache.slots(LayerId(0), KvHead(0)), 4);
  EXPECT_EQ(table.slot[0], table.slot[1]);
  EXPECT_EQ(table.slot[2], table.slot[3]);
  const auto [key, value] = cache.row_views(LayerId(0), KvHead(0), table.slot[2]);
  testing::expect_near(key, {.069974, .994209});
  testing::expect_near(value, {.042564, 1.787181});
  const auto& head = merging.head(LayerId(0), KvHead(0));
  ASSERT_EQ(head.window.size(), 2U);
  EXPECT_EQ(head.window[0].original, 7);
  EXPECT_EQ(head.window[1].original, 8);
  // Before token 2 left, global attention summed to 8 and local to 2.7.
  std::vector<float> all_global = {3.282687F, 1.462317F, .9F, 1.093740F, .615892F, .511866F, .133497F};
  std::vector<float> all_local = {.782687F, .562317F, .1F, .493740F, .365892F, .261866F, .133497F};
  testing::expect_near(global_local(all_global, all_local), {1.107907, .562317, .303750, .493740, .365892, .261866, .133497});
  EXPECT_NEAR(head.table[3].global, .615892, kTolerance);
  EXPECT_NEAR(head.table[0].local(), .782687, kTolerance);
}

TEST_F(EmsFixture, MaskedTokensMayCountLiterally) {
  KvCache cache = cache_after_event();
  cache.append(LayerId(0), keys.narrow(0, 8, 1).unsqueeze(0), values.narrow(0, 8, 1).unsqueeze(0), Rows{8});
  const at::Tensor query = at::tensor({1., .5}).to(at::kFloat).view({1, 2});
  const SharedEntryAttention masked = shared_entry_attention(query, cache, LayerId(0), KvHead(0), 1.0, true);
  cache.shared_entries(LayerId(0), KvHead(0))->zero_counts = true;
  const SharedEntryAttention literal = shared_entry_attention(query, cache, LayerId(0), KvHead(0), 1.0, true);
  // exp(0) more in the denominator, nothing more in the sum.
  const double denominator = std::exp(masked.log_sum_exp.item<double>());
  EXPECT_NEAR(std::exp(literal.log_sum_exp.item<double>()), denominator + 1.0, 1e-4);
  EXPECT_TRUE(at::allclose(literal.output * (denominator + 1.0), masked.output * denominator, 1e-4, 1e-5));
}

// A cache with shared slots of random content, of `tokens` tokens in the table.
KvCache random_shared_cache(std::int64_t slots, std::int64_t shared_slots, std::int32_t tokens, std::int64_t head_dim,
                            SharedEntries::Rotation rotation) {
  at::manual_seed(5);
  KvCache cache(shape_of(1, head_dim, 10000.0));
  Rows original(static_cast<std::size_t>(slots));
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    original[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(slot < shared_slots ? slot : tokens + slot - shared_slots);
  }
  cache.append(LayerId(0), at::randn({1, slots, head_dim}), at::randn({1, slots, head_dim}), original);
  SharedEntries table;
  table.rotation = rotation;
  for (std::int32_t token = 0; token < tokens; ++token) {
    table.original.push_back(token);
    table.slot.push_back(token % 5 == 4 ? SharedEntries::kZero : static_cast<std::int32_t>((token * 7) % shared_slots));
    table.norm.push_back(0.5F + 0.1F * static_cast<float>(token % 11));
  }
  cache.set_shared_entries(LayerId(0), KvHead(0), std::move(table));
  return cache;
}

// Every token with a key and value of its own, position by position, as attention over an ordinary cache would see them.
struct DenseCache {
  at::Tensor keys;
  at::Tensor values;
};
DenseCache dense_of(const KvCache& cache) {
  const SharedEntries& table = *cache.shared_entries(LayerId(0), KvHead(0));
  const at::Tensor keys = cache.gather_keys(LayerId(0), KvHead(0));
  const at::Tensor values = cache.gather_values(LayerId(0), KvHead(0));
  std::vector<at::Tensor> all_keys, all_values;
  std::vector<bool> direct(static_cast<std::size_t>(cache.slots(LayerId(0), KvHead(0))), true);
  for (const std::int32_t slot : table.slot) {
    if (slot >= 0) direct[static_cast<std::size_t>(slot)] = false;
  }
  const auto original = cache.original(LayerId(0), KvHead(0));
  const std::int32_t newest = *std::max_element(original.begin(), original.end());
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.slot[i] < 0) continue;
    at::Tensor key = keys[table.slot[i]] * table.norm[i];
    if (table.rotation != SharedEntries::Rotation::kStored) {
      std::int64_t later = 0;
      for (std::size_t j = i + 1; j < table.size(); ++j) later += table.slot[j] >= 0 ? 1 : 0;
      for (std::size_t slot = 0; slot < direct.size(); ++slot) later += direct[slot] && original[slot] > table.original[i] ? 1 : 0;
      const double position =
          table.rotation == SharedEntries::Rotation::kByOriginal ? table.original[i] : static_cast<double>(newest - later);
      const std::int64_t half = key.size(0) / 2;
      at::Tensor rotated = at::empty_like(key);
      for (std::int64_t c = 0; c < half; ++c) {
        const double angle = position * std::pow(10000.0, -2.0 * static_cast<double>(c) / static_cast<double>(key.size(0)));
        const double a = key[c].item<double>();
        const double b = key[c + half].item<double>();
        rotated[c] = a * std::cos(angle) - b * std::sin(angle);
        rotated[c + half] = b * std::cos(angle) + a * std::sin(angle);
      }
      key = rotated;
    }
    all_keys.push_back(key);
    all_values.push_back(values[table.slot[i]]);
  }
  for (std::size_t slot = 0; slot < direct.size(); ++slot) {
    if (!direct[slot]) continue;
    all_keys.push_back(keys[static_cast<std::int64_t>(slot)]);
    all_values.push_back(values[static_cast<std::int64_t>(slot)]);
  }
  return {at::stack(all_keys), at::stack(all_values)};
}

class SharedAttention : public ::testing::TestWithParam<SharedEntries::Rotation> {};

TEST_P(SharedAttention, EqualsADenseExpansion) {
  const KvCache cache = random_shared_cache(90, 70, 200, 8, GetParam());
  const at::Tensor query = at::randn({6, 8});
  const SharedEntryAttention shared = shared_entry_attention(query, cache, LayerId(0), KvHead(0), 0.35, true);
  const DenseCache dense = dense_of(cache);
  const at::Tensor logits = at::mm(query, dense.keys.t()) * 0.35;
  EXPECT_LT((shared.output - at::mm(at::softmax(logits, 1), dense.values)).abs().max().item<double>(), kTolerance);
  EXPECT_LT((shared.log_sum_exp - at::logsumexp(logits, {1})).abs().max().item<double>(), kTolerance);
  EXPECT_LT((shared.probabilities.sum(1) - 1.0).abs().max().item<double>(), kTolerance);
}

// Many rows go through library calls, few through loops: the same numbers.
TEST_P(SharedAttention, ManyRowsAreAsFew) {
  const KvCache cache = random_shared_cache(90, 70, 200, 8, GetParam());
  const at::Tensor query = at::randn({400, 8});
  const SharedEntryAttention many = shared_entry_attention(query, cache, LayerId(0), KvHead(0), 0.35, true);
  const SharedEntryAttention few = shared_entry_attention(query.narrow(0, 7, 3), cache, LayerId(0), KvHead(0), 0.35, true);
  EXPECT_LT((many.output.narrow(0, 7, 3) - few.output).abs().max().item<double>(), kTolerance);
  EXPECT_LT((many.probabilities.narrow(0, 7, 3) - few.probabilities).abs().max().item<double>(), kTolerance);
  EXPECT_LT((many.log_sum_exp.narrow(0, 7, 3) - few.log_sum_exp).abs().max().item<double>(), kTolerance);
}

TEST_P(SharedAttention, ASegmentAfterItSeesTheSame) {
  const KvCache cache = random_shared_cache(90, 70, 200, 8, GetParam());
  const at::Tensor query = at::randn({5, 3, 8});  // rows, heads of the only kv head
  const at::Tensor key = at::randn({1, 5, 8});
  const at::Tensor value = at::randn({1, 5, 8});
  PastKeyValues past;
  past.cache = &cache;
  past.keys.resize(1);
  past.values.resize(1);
  const AttentionResult shared = prefill_attention(query, key, value, 0, past, 0.35);
  const DenseCache dense = dense_of(cache);
  PastKeyValues expanded;
  expanded.keys = {dense.keys};
  expanded.values = {dense.values};
  const AttentionResult reference = prefill_attention(query, key, value, 0, expanded, 0.35);
  EXPECT_LT((shared.output - reference.output).abs().max().item<double>(), kTolerance);
  EXPECT_LT((shared.log_sum_exp - reference.log_sum_exp).abs().max().item<double>(), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(AllRotations, SharedAttention,
                         ::testing::Values(SharedEntries::Rotation::kStored, SharedEntries::Rotation::kByRank,
                                           SharedEntries::Rotation::kByOriginal));

TEST(SharedEntryMerging, HoldsItsLimitsOverTenThousandTokens) {
  constexpr std::int64_t kCap = 12;
  constexpr std::int64_t kWindow = 4;
  const std::shared_ptr<const Reducer> sharing = testing::composition_of("ems").reducer;
  SharedEntryMerging merging(kWindow, *sharing->sharing(), {kCap}, 2, std::vector<SharedEntryMerging::Head>(2));
  KvCache cache(shape_of(2, 8, 10000.0));
  at::manual_seed(3);
  MergeState state;
  std::int64_t settled_bytes = 0;
  for (std::int32_t token = 0; token < 10000; ++token) {
    // Three kinds of tokens, so that some are alike.
    const at::Tensor kind = at::zeros({2, 1, 8});
    kind.select(2, token % 3).fill_(3.0);
    cache.append(LayerId(0), kind + at::randn({2, 1, 8}) * 0.5, kind + at::randn({2, 1, 8}) * 0.5, Rows{token});
    DecodeRow row;
    for (KvHead head{0}; head < 2; ++head) {
      const at::Tensor probabilities =
          shared_entry_attention(at::randn({1, 8}), cache, LayerId(0), head, 0.35, true).probabilities.contiguous();
      row.probabilities.emplace_back(probabilities.const_data_ptr<float>(), probabilities.const_data_ptr<float>() + probabilities.numel());
    }
    testing::after_layer(merging, cache, LayerId(0), row, state);
    for (KvHead head{0}; head < 2; ++head) {
      ASSERT_LE(cache.slots(LayerId(0), head), kCap);
      const auto& scores = merging.head(LayerId(0), head);
      ASSERT_EQ(scores.window.size(), static_cast<std::size_t>(std::min<std::int64_t>(token + 1, kWindow)));
      ASSERT_EQ(scores.window.back().original, token);
      if (cache.shared_entries(LayerId(0), head) == nullptr) continue;
      ASSERT_EQ(scores.table.size(), cache.shared_entries(LayerId(0), head)->size());
      ASSERT_LE(std::ssize(scores.table), 4 * kCap - kWindow);
    }
    if (token == 500) settled_bytes = cache.bytes_allocated();
  }
  EXPECT_EQ(cache.bytes_allocated(), settled_bytes);
  // More tokens are alive than are stored.
  EXPECT_GT(cache.shared_entries(LayerId(0), KvHead(0))->size(), static_cast<std::size_t>(kCap));
}

TEST(SharedEntryMerging, AForkLivesItsOwnLife) {
  KvCache cache = random_shared_cache(90, 70, 200, 8, SharedEntries::Rotation::kStored);
  KvCache copy = cache.fork();
  const auto before = *cache.shared_entries(LayerId(0), KvHead(0));
  for (std::int32_t& slot : copy.shared_entries(LayerId(0), KvHead(0))->slot) slot = slot == 69 ? SharedEntries::kZero : slot;
  copy.evict(LayerId(0), KvHead(0), 69);
  EXPECT_EQ(cache.shared_entries(LayerId(0), KvHead(0))->slot, before.slot);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 90);
  EXPECT_EQ(copy.slots(LayerId(0), KvHead(0)), 89);
}

TEST(RotatedKeys, AreThoseOfTheOtherPosition) {
  // d = 4, base 10000: the raw key (1, 0.5, -0.5, 2).
  const at::Tensor raw = at::tensor({1., .5, -.5, 2.}).to(at::kFloat).view({1, 4});
  const at::Tensor at_five = rotated_keys(raw, at::full({1, 1}, 5.0), {10000.0, {}});
  testing::expect_near(at_five, {-0.195800, 0.399417, -1.100755, 2.022490});
  testing::expect_near(rotated_keys(at_five, at::full({1, 1}, -3.0), {10000.0, {}}), {0.038502, 0.459903, 1.117371, 2.009599});
  testing::expect_near(rotated_keys(at_five, at::full({1, 1}, -5.0), {10000.0, {}}), {1., .5, -.5, 2.});
}

}  // namespace
}  // namespace winnow
