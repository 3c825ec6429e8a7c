// Decode phase: caps hold over ten thousand tokens, accumulators are those of a dense recomputation, victims are the rule's.
#include "engine/compression/decode/attention_eviction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "engine/compression/decode/ratio_removal.h"
#include "engine/compression/decode/recency_eviction.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/engine/compression/named_composition.h"
#include "tests/support/kv_shape.h"

namespace winnow {
namespace {

using testing::composition_of;
using Rows = std::vector<std::int32_t>;

KvShape shape_of(std::int64_t layers, std::int64_t kv_heads, std::int64_t head_dim) {
  return test_support::kv_shape(layers, kv_heads, head_dim);
}

Rows original_tokens(const KvCache& cache, LayerId layer, KvHead head) {
  const auto original = cache.original(layer, head);
  Rows tokens(original.begin(), original.end());
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

// A decoded token: random K and V, and a random row of probabilities per head.
class Stream {
 public:
  Stream(std::int64_t layers, std::int64_t kv_heads, std::int64_t head_dim) : cache(shape_of(layers, kv_heads, head_dim)) {}

  DecodeRow step(LayerId layer) {
    const KvShape& shape = cache.shape();
    const at::Tensor rows = at::randn({shape.kv_heads, 1, shape.head_dim});
    cache.append(layer, rows, rows, Rows{next});
    DecodeRow row;
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      std::vector<float> probabilities;
      float sum = 0.0F;
      for (std::int64_t slot = 0; slot < cache.slots(layer, head); ++slot) {
        probabilities.push_back(std::uniform_real_distribution<float>(0.001F, 1.0F)(random));
        sum += probabilities.back();
      }
      for (float& p : probabilities) p /= sum;
      row.probabilities.push_back(std::move(probabilities));
    }
    return row;
  }

  KvCache cache;
  std::int32_t next = 0;
  std::mt19937 random{5};
};

AttentionEviction policy_of(const std::string& method, std::vector<std::int64_t> caps, std::int64_t kv_heads,
                            const std::map<std::string, std::string>& options = {}) {
  const Composition parts = composition_of(method, options);
  const std::size_t heads = caps.size() * static_cast<std::size_t>(kv_heads);
  return AttentionEviction(std::move(caps), parts, kv_heads, std::vector<SlotAttention>(heads));
}

class CapsHold : public ::testing::TestWithParam<const char*> {};

TEST_P(CapsHold, OverTenThousandTokens) {
  Stream stream(1, 2, 4);
  AttentionEviction policy = policy_of(GetParam(), {24}, 2);
  MergeState state;
  std::int64_t bytes = 0;
  for (; stream.next < 10000; ++stream.next) {
    const DecodeRow row = stream.step(LayerId(0));
    testing::after_layer(policy, stream.cache, LayerId(0), row, state);
    for (KvHead head{0}; head < 2; ++head) {
      ASSERT_EQ(stream.cache.slots(LayerId(0), head), std::min<std::int64_t>(24, stream.next + 1));
      ASSERT_EQ(policy.slots(LayerId(0), head).sum.size(), static_cast<std::size_t>(stream.cache.slots(LayerId(0), head)));
    }
    if (stream.next == 100) bytes = stream.cache.bytes_allocated() + policy.bytes_metadata();
    if (stream.next > 100) {
      ASSERT_EQ(stream.cache.bytes_allocated() + policy.bytes_metadata(), bytes) << "memory is flat under the cap";
    }
  }
  EXPECT_EQ(original_tokens(stream.cache, LayerId(0), KvHead(0)).back(), 9999);
  EXPECT_TRUE(at::isfinite(stream.cache.gather_values(LayerId(0), KvHead(0))).all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Methods, CapsHold, ::testing::Values("h2o", "d2o", "roco", "cam", "cam-expected"), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Every token's sums are kept apart by its number, as a program without a cache would.
TEST(AttentionEviction, AccumulatorsAreThoseOfARecomputation) {
  Stream stream(1, 1, 4);
  AttentionEviction policy = policy_of("roco", {16}, 1);
  MergeState state;
  std::map<std::int32_t, std::array<double, 3>> dense;  // sum, squares, rows
  for (; stream.next < 300; ++stream.next) {
    const DecodeRow row = stream.step(LayerId(0));
    const auto original = stream.cache.original(LayerId(0), KvHead(0));
    for (std::size_t slot = 0; slot < original.size(); ++slot) {
      auto& [sum, square, rows] = dense[original[slot]];
      const double p = row.probabilities[0][slot];
      sum += p;
      square += p * p;
      rows += 1.0;
    }
    testing::after_layer(policy, stream.cache, LayerId(0), row, state);
    const auto left = stream.cache.original(LayerId(0), KvHead(0));
    for (std::size_t slot = 0; slot < left.size(); ++slot) {
      const auto& [sum, square, rows] = dense.at(left[slot]);
      ASSERT_NEAR(policy.slots(LayerId(0), KvHead(0)).sum[slot], sum, 1e-4);
      ASSERT_NEAR(policy.slots(LayerId(0), KvHead(0)).square[slot], square, 1e-4);
      ASSERT_EQ(policy.slots(LayerId(0), KvHead(0)).rows[slot], static_cast<std::int32_t>(rows));
    }
  }
}

// Tokens 0, 1, 6, 7 with their event sums, token 8 comes, cap 4, two recent slots: 6 leaves.
TEST(AttentionEviction, H2oExample) {
  KvCache cache(shape_of(1, 1, 2));
  cache.append(LayerId(0), at::zeros({1, 5, 2}), at::zeros({1, 5, 2}), Rows{0, 1, 6, 7, 8});
  SlotAttention slots{.sum = {3.190251F, 1.882753F, 0.116662F, 0.118546F}, .rows = {8, 7, 2, 1}};
  const Composition parts = composition_of("h2o");
  AttentionEviction policy({4}, parts, 1, {slots});
  MergeState state;
  testing::after_layer(policy, cache, LayerId(0), {{{0.40F, 0.25F, 0.05F, 0.10F, 0.20F}}}, state);
  EXPECT_EQ(original_tokens(cache, LayerId(0), KvHead(0)), (Rows{0, 1, 7, 8}));
  std::map<std::int32_t, float> sums;
  for (std::size_t slot = 0; slot < 4; ++slot)
    sums[cache.original(LayerId(0), KvHead(0))[slot]] = policy.slots(LayerId(0), KvHead(0)).sum[slot];
  EXPECT_NEAR(sums[0], 3.590251, 1e-5);
  EXPECT_NEAR(sums[1], 2.132753, 1e-5);
  EXPECT_NEAR(sums[7], 0.218546, 1e-5);
  EXPECT_NEAR(sums[8], 0.200000, 1e-5);
}

// The same after slots have changed places, and with a later segment's slots behind them.
TEST(AttentionEviction, TellsWhatEarlierTokensGotByTheirNumbers) {
  KvCache cache(shape_of(1, 1, 2));
  cache.append(LayerId(0), at::zeros({1, 5, 2}), at::zeros({1, 5, 2}), Rows{0, 1, 6, 7, 8});
  SlotAttention slots{.sum = {3.0F, 2.0F, 0.125F, 0.25F}, .rows = {8, 7, 2, 1}};
  AttentionEviction policy({4}, composition_of("h2o"), 1, {slots});
  MergeState state;
  testing::after_layer(policy, cache, LayerId(0), {{{0.5F, 0.25F, 0.0F, 0.25F, 0.125F}}}, state);  // 6 leaves, 8 takes its slot
  cache.append(LayerId(0), at::zeros({1, 2, 2}), at::zeros({1, 2, 2}), Rows{9, 10});
  const FollowedTokens known = policy.retained_attention(cache, LayerId(0), KvHead(0), 9);
  std::map<std::int32_t, std::pair<float, std::int32_t>> found;
  for (const auto& [token, about] : known) found[token] = {about.sum, about.rows};
  EXPECT_EQ(found,
            (std::map<std::int32_t, std::pair<float, std::int32_t>>{{0, {3.5F, 9}}, {1, {2.25F, 8}}, {7, {0.5F, 2}}, {8, {0.125F, 1}}}));
  EXPECT_FALSE(policy.retained_attention(cache, LayerId(0), KvHead(0), 8).contains(8));
  EXPECT_TRUE(policy.removes());
  EXPECT_FALSE(AttentionEviction({DecodePolicy::kNoCap}, composition_of("h2o"), 1, {slots}).removes());
}

// D2O: slot 3 is the least attended; its cosines to the kept keys are 0.750789, 0.813868, 0.983860, so the threshold moves to 0.936719 and
// it is merged into slot 2. The newest token's key is made orthogonal so that it is no target.
TEST(AttentionEviction, D2oExample) {
  KvCache cache(shape_of(1, 1, 2));
  const auto pairs = [](std::vector<double> numbers) {
    return at::tensor(numbers).to(at::kFloat).view({1, static_cast<std::int64_t>(numbers.size()) / 2, 2});
  };
  cache.append(LayerId(0), pairs({1.492536, 0.246268, 0.099029, 1.504855, 1.0, 0.851141, 0.9, 1.1, -1.1, 0.9}),
               pairs({1.0, 0.492536, 1.485436, 0.504855, 1.007608, 2.0, 1.0, 3.0, 0.0, 0.0}), Rows{0, 1, 2, 3, 4});
  SlotAttention slots{.sum = {1.0F, 1.0F, 1.0F, 0.0F}, .rows = {4, 3, 2, 1}};
  Composition parts = composition_of("d2o", {{"sinks", "0"}});
  AttentionEviction policy({4}, parts, 1, {slots});
  MergeState state;
  state.threshold(cache.shape(), LayerId(0), KvHead(0)) = 0.826724;
  testing::after_layer(policy, cache, LayerId(0), {{{0.2F, 0.2F, 0.2F, 0.1F, 0.3F}}}, state);
  EXPECT_NEAR(state.threshold(cache.shape(), LayerId(0), KvHead(0)), 0.936719, 1e-5);
  EXPECT_EQ(original_tokens(cache, LayerId(0), KvHead(0)), (Rows{0, 1, 2, 4}));
  const auto [key, value] = cache.row_views(LayerId(0), KvHead(0), 2);
  EXPECT_NEAR(key[0].item<float>(), 0.950403, 1e-5);
  EXPECT_NEAR(key[1].item<float>(), 0.974566, 1e-5);
  EXPECT_NEAR(value[0].item<float>(), 1.003835, 1e-5);
  EXPECT_NEAR(value[1].item<float>(), 2.495965, 1e-5);
}

TEST(AttentionEviction, D2oDropsWhatIsNotSimilarEnough) {
  KvCache cache(shape_of(1, 1, 2));
  const auto pairs = [](std::vector<double> numbers) {
    return at::tensor(numbers).to(at::kFloat).view({1, static_cast<std::int64_t>(numbers.size()) / 2, 2});
  };
  const at::Tensor keys = pairs({1.492536, 0.246268, 0.099029, 1.504855, 1.0, 0.851141, -0.5, 1.0, 1.0, 0.5});
  cache.append(LayerId(0), keys, keys, Rows{0, 1, 2, 3, 4});
  SlotAttention slots{.sum = {1.0F, 1.0F, 1.0F, 0.0F}, .rows = {4, 3, 2, 1}};
  Composition parts = composition_of("d2o", {{"sinks", "0"}});
  AttentionEviction policy({4}, parts, 1, {slots});
  MergeState state;
  state.threshold(cache.shape(), LayerId(0), KvHead(0)) = 0.936719;
  testing::after_layer(policy, cache, LayerId(0), {{{0.2F, 0.2F, 0.2F, 0.1F, 0.3F}}}, state);
  EXPECT_NEAR(state.threshold(cache.shape(), LayerId(0), KvHead(0)), 0.885207, 1e-5);
  EXPECT_TRUE(at::equal(cache.gather_keys(LayerId(0), KvHead(0), 3), keys[0].narrow(0, 0, 3)));
}

// Token 1 leaves with 0.3 of attention; its value 6 goes to tokens 2, 3 and 4 in thirds. Against the receivers' mean 0.4 its probability is
// 0.75, against the largest of all that stay, the sink's 0.9, it is a third.
TEST(AttentionEviction, CamPushesByTheChosenReference) {
  for (const auto& [reference, part] : {std::pair{"mean", 1.5}, std::pair{"max", 2.0 / 3.0}}) {
    SCOPED_TRACE(reference);
    KvCache cache(shape_of(1, 1, 1));
    const at::Tensor values = at::tensor({9.0F, 6.0F, 1.0F, 2.0F, 3.0F}).view({1, 5, 1});
    cache.append(LayerId(0), at::zeros({1, 5, 1}), values, Rows{0, 1, 2, 3, 4});
    SlotAttention slots{.sum = {0.7F, 0.2F, 0.4F, 0.3F}, .rows = {4, 3, 2, 1}};
    const Composition parts = composition_of("cam-expected", {{"sinks", "1"}, {"reference", reference}});
    AttentionEviction policy({4}, parts, 1, {slots});
    MergeState state;
    testing::after_layer(policy, cache, LayerId(0), {{{0.2F, 0.1F, 0.1F, 0.1F, 0.3F}}}, state);  // sums 0.9, 0.3, 0.5, 0.4, 0.3
    std::map<std::int32_t, double> left;
    for (std::int64_t slot = 0; slot < 4; ++slot) {
      left[cache.original(LayerId(0), KvHead(0))[static_cast<std::size_t>(slot)]] =
          cache.gather_values(LayerId(0), KvHead(0))[slot][0].item<double>();
    }
    EXPECT_EQ(original_tokens(cache, LayerId(0), KvHead(0)), (Rows{0, 2, 3, 4}));
    EXPECT_NEAR(left[0], 9.0, 1e-5);
    EXPECT_NEAR(left[2], 1.0 + part, 1e-5);
    EXPECT_NEAR(left[3], 2.0 + part, 1e-5);
    EXPECT_NEAR(left[4], 3.0 + part, 1e-5);
  }
}

// A sink of 9 and tokens 1 .. 3 with values 1, 2, 3 under a cap of 4; every token is looked at alike, so that what leaves is handed on
// whole. Token 1's value goes in thirds to 2, 3 and 4 (2.333, 3.333, 4.333), once; then token 2's with what it was given in thirds to 3, 4
// and 5.
TEST(AttentionEviction, CamPushesEachTokenOnceWhenItLeaves) {
  KvCache cache(shape_of(1, 1, 1));
  const auto append = [&](std::vector<float> values, Rows tokens) {
    const at::Tensor rows = at::tensor(values).view({1, static_cast<std::int64_t>(values.size()), 1});
    cache.append(LayerId(0), at::zeros_like(rows), rows, tokens);
  };
  append({9, 1, 2, 3}, {0, 1, 2, 3});
  SlotAttention slots{.sum = {1.0F, 1.0F, 1.0F, 1.0F}, .rows = {4, 3, 2, 1}};
  AttentionEviction policy({4}, composition_of("cam-expected", {{"sinks", "1"}, {"window", "3"}}), 1, {slots});
  MergeState state;
  const auto value_of = [&](std::int32_t token) {
    const auto original = cache.original(LayerId(0), KvHead(0));
    const auto slot = std::find(original.begin(), original.end(), token) - original.begin();
    return cache.gather_values(LayerId(0), KvHead(0))[slot][0].item<double>();
  };
  append({4}, {4});
  testing::after_layer(policy, cache, LayerId(0), {{{0.0F, 0.0F, 0.0F, 0.0F, 1.0F}}}, state);
  EXPECT_EQ(original_tokens(cache, LayerId(0), KvHead(0)), (Rows{0, 2, 3, 4}));
  EXPECT_NEAR(value_of(2), 7.0 / 3, 1e-5);
  EXPECT_NEAR(value_of(3), 10.0 / 3, 1e-5);
  EXPECT_NEAR(value_of(4), 13.0 / 3, 1e-5);
  append({5}, {5});
  testing::after_layer(policy, cache, LayerId(0), {{{0.0F, 0.0F, 0.0F, 0.0F, 1.0F}}}, state);
  EXPECT_EQ(original_tokens(cache, LayerId(0), KvHead(0)), (Rows{0, 3, 4, 5}));
  EXPECT_NEAR(value_of(0), 9.0, 1e-5);
  EXPECT_NEAR(value_of(3), 37.0 / 9, 1e-5);
  EXPECT_NEAR(value_of(4), 46.0 / 9, 1e-5);
  EXPECT_NEAR(value_of(5), 52.0 / 9, 1e-5);
}

// What stays is its base's choice, token by token, and where nothing is ever looked at nothing is pushed.
TEST(AttentionEviction, CamKeepsWhatStreamingLlmKeeps) {
  Stream stream(1, 1, 4);
  Stream base(1, 1, 4);
  const Composition parts = composition_of("cam");
  AttentionEviction policy({12}, parts, 1, std::vector<SlotAttention>(1));
  RecencyEviction recency({12}, parts.protection.sinks, 1);
  MergeState state;
  for (; stream.next < 100; ++stream.next, ++base.next) {
    DecodeRow row = stream.step(LayerId(0));
    base.cache.append(LayerId(0), stream.cache.gather_keys(LayerId(0), KvHead(0)).slice(0, -1).unsqueeze(0),
                      stream.cache.gather_values(LayerId(0), KvHead(0)).slice(0, -1).unsqueeze(0), Rows{base.next});
    std::fill(row.probabilities[0].begin(), row.probabilities[0].end(), 0.0F);
    testing::after_layer(policy, stream.cache, LayerId(0), row, state);
    testing::after_layer(recency, base.cache, LayerId(0), {}, state);
    ASSERT_EQ(original_tokens(stream.cache, LayerId(0), KvHead(0)), original_tokens(base.cache, LayerId(0), KvHead(0)));
    const auto sorted = [](const KvCache& cache) {
      const auto original = cache.original(LayerId(0), KvHead(0));
      const at::Tensor order = at::tensor(std::vector<std::int64_t>(original.begin(), original.end())).argsort();
      return cache.gather_values(LayerId(0), KvHead(0)).index_select(0, order);
    };
    ASSERT_TRUE(at::equal(sorted(stream.cache), sorted(base.cache)));
  }
}

// The share of all tokens seen is never exceeded by a whole slot, and the token that leaves is the one at the fixed place.
TEST(RatioRemoval, HoldsTheShareOverTenThousandTokens) {
  Stream stream(1, 2, 4);
  MergeState state;
  for (; stream.next < 40; ++stream.next) stream.step(LayerId(0));
  RatioRemoval policy({{0.5, 40}}, -25, 1, 2);  // as if 80 tokens had been seen
  stream.next = 80;
  for (; stream.next < 10080; ++stream.next) {
    stream.step(LayerId(0));
    testing::after_layer(policy, stream.cache, LayerId(0), {}, state);
    const double seen = stream.next + 1;
    ASSERT_LT(static_cast<double>(stream.cache.slots(LayerId(0), KvHead(0))) - 0.5 * seen, 1.0);
    ASSERT_GT(static_cast<double>(stream.cache.slots(LayerId(0), KvHead(0))) - 0.5 * seen, -1.0);
    ASSERT_EQ(original_tokens(stream.cache, LayerId(0), KvHead(0)), original_tokens(stream.cache, LayerId(0), KvHead(1)));
  }
  const Rows tokens = original_tokens(stream.cache, LayerId(0), KvHead(0));
  for (std::int32_t token = 0; token < 15; ++token)
    EXPECT_EQ(tokens[static_cast<std::size_t>(token)], token) << "the first 15 are before the place";
}

TEST(RatioRemoval, FallsBackToTheMiddleOfAShortEvent) {
  KvCache cache(shape_of(1, 1, 2));
  Rows original(11);
  std::iota(original.begin(), original.end(), 0);
  cache.append(LayerId(0), at::zeros({1, 11, 2}), at::zeros({1, 11, 2}), original);
  RatioRemoval policy({{0.9, 10}}, -25, 1, 1);
  MergeState state;
  testing::after_layer(policy, cache, LayerId(0), {}, state);  // 11 - 9.9 >= 1
  EXPECT_EQ(original_tokens(cache, LayerId(0), KvHead(0)), (Rows{0, 1, 2, 3, 4, 6, 7, 8, 9, 10}));
}

}  // namespace
}  // namespace winnow
