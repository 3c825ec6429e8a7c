#include "engine/compression/decode/recency_eviction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/base/error.h"
#include "engine/compression/next_decode_policy.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/support/kv_shape.h"

namespace winnow {
namespace {

KvShape tiny_shape() { return test_support::kv_shape(2, 2, 2); }

// K of a token is its number.
void append(KvCache& cache, LayerId layer, std::int32_t first, std::int64_t count) {
  std::vector<std::int32_t> original(static_cast<std::size_t>(count));
  std::iota(original.begin(), original.end(), first);
  const at::Tensor rows = at::arange(first, first + count, at::kFloat).view({1, count, 1}).expand({2, count, 2});
  cache.append(layer, rows, rows, original);
}

std::vector<std::int32_t> sorted_tokens(const KvCache& cache, LayerId layer, KvHead head) {
  const auto original = cache.original(layer, head);
  std::vector<std::int32_t> tokens(original.begin(), original.end());
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

std::vector<std::int32_t> sinks_and_last(std::int32_t sinks, std::int32_t last, std::int64_t cap) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(cap));
  std::iota(tokens.begin(), tokens.begin() + sinks, 0);
  std::iota(tokens.begin() + sinks, tokens.end(), last - static_cast<std::int32_t>(cap) + sinks + 1);
  return tokens;
}

TEST(RecencyEviction, HoldsTheCapOverTenThousandSteps) {
  MergeState state;
  KvCache cache(tiny_shape());
  RecencyEviction policy({20, 70}, 4, 2);
  for (LayerId layer{0}; layer < 2; ++layer) append(cache, layer, 0, 15);
  for (std::int32_t token = 15; token < 10015; ++token) {
    for (LayerId layer{0}; layer < 2; ++layer) {
      append(cache, layer, token, 1);
      testing::after_layer(policy, cache, layer, {}, state);
      const std::int64_t cap = policy.caps()[static_cast<std::size_t>(layer)];
      ASSERT_EQ(cache.slots(layer, KvHead(0)), std::min<std::int64_t>(cap, token + 1));
      if (token % 997 == 0 && token > 100) {
        ASSERT_EQ(sorted_tokens(cache, layer, KvHead(0)), sinks_and_last(4, token, cap));
        ASSERT_EQ(sorted_tokens(cache, layer, KvHead(1)), sinks_and_last(4, token, cap));
      }
    }
  }
  // Rows travel with their tokens.
  const at::Tensor keys = cache.gather_keys(LayerId(1), KvHead(1));
  for (std::int64_t slot = 0; slot < 70; ++slot) {
    EXPECT_EQ(keys[slot][0].item<float>(), static_cast<float>(cache.original(LayerId(1), KvHead(1))[static_cast<std::size_t>(slot)]));
  }
  EXPECT_EQ(cache.bytes_peak(), cache.bytes_allocated());
}

TEST(RecencyEviction, EvictsManyAtOnceWhenFarOverTheCap) {
  MergeState state;
  KvCache cache(tiny_shape());
  RecencyEviction policy({10, 10}, 2, 2);
  append(cache, LayerId(0), 0, 200);
  testing::after_layer(policy, cache, LayerId(0), {}, state);
  EXPECT_EQ(sorted_tokens(cache, LayerId(0), KvHead(1)), sinks_and_last(2, 199, 10));
  append(cache, LayerId(0), 200, 1);
  testing::after_layer(policy, cache, LayerId(0), {}, state);
  EXPECT_EQ(sorted_tokens(cache, LayerId(0), KvHead(1)), sinks_and_last(2, 200, 10));
}

TEST(RecencyEviction, NoticesThatTheCacheWasCutBack) {
  MergeState state;
  KvCache cache(tiny_shape());
  RecencyEviction policy({10, 10}, 0, 2);
  append(cache, LayerId(0), 0, 10);
  for (std::int32_t token = 10; token < 17; ++token) {
    append(cache, LayerId(0), token, 1);
    testing::after_layer(policy, cache, LayerId(0), {}, state);
  }
  for (const KvHead head : {KvHead(0), KvHead(1)}) {
    for (std::int64_t slot = cache.slots(LayerId(0), head) - 1; slot >= 0; --slot) {
      if (cache.original(LayerId(0), head)[static_cast<std::size_t>(slot)] >= 14) cache.evict(LayerId(0), head, slot);
    }
  }  // tokens 7 .. 13 remain
  for (std::int32_t token = 14; token < 40; ++token) {
    append(cache, LayerId(0), token, 1);
    testing::after_layer(policy, cache, LayerId(0), {}, state);
  }
  EXPECT_EQ(sorted_tokens(cache, LayerId(0), KvHead(0)), sinks_and_last(0, 39, 10));
}

TEST(RecencyEviction, ACopyLivesItsOwnLife) {
  MergeState state;
  KvCache cache(tiny_shape());
  RecencyEviction policy({8, 8}, 1, 2);
  append(cache, LayerId(0), 0, 8);
  append(cache, LayerId(0), 8, 1);
  testing::after_layer(policy, cache, LayerId(0), {}, state);
  KvCache forked = cache.fork();
  RecencyEviction copy = policy;
  for (std::int32_t token = 9; token < 30; ++token) {
    append(cache, LayerId(0), token, 1);
    testing::after_layer(policy, cache, LayerId(0), {}, state);
  }
  append(forked, LayerId(0), 9, 1);
  testing::after_layer(copy, forked, LayerId(0), {}, state);
  EXPECT_EQ(sorted_tokens(cache, LayerId(0), KvHead(0)), sinks_and_last(1, 29, 8));
  EXPECT_EQ(sorted_tokens(forked, LayerId(0), KvHead(0)), sinks_and_last(1, 9, 8));
}

TEST(RecencyEviction, RefusesACapWithoutRoom) { EXPECT_THROW(RecencyEviction({4}, 4, 1), Exception); }

class NextDecodePolicy : public ::testing::Test {
 protected:
  // A turn of n tokens (visual or text) under the recipe: append, compress, ask for the policy.
  std::unique_ptr<DecodePolicy> turn(const RecipeSpec& spec, std::int64_t n, Modality kind, const DecodePolicy* previous) {
    const std::vector<Modality> modality(static_cast<std::size_t>(n), kind);
    const Recipe recipe = Recipe::from_spec(spec);
    SegmentCompressor compressor(recipe, testing::segment_of(modality, 2, 2, 2, next_));
    for (LayerId layer{0}; layer < 2; ++layer) {
      append(cache_, layer, next_, n);
      if (compressor.will_compress()) cache_.compact(layer, n, compressor.plan(layer));
    }
    next_ += static_cast<std::int32_t>(n);
    return next_decode_policy(previous, recipe, compressor, cache_);
  }

  static const std::vector<std::int64_t>& caps_of(const DecodePolicy& policy) {
    return dynamic_cast<const RecencyEviction&>(policy).caps();
  }

  static RecipeSpec streaming(double retention) { return {.method = "streaming-llm", .retention = retention}; }

  KvCache cache_{tiny_shape()};
  std::int32_t next_ = 0;
};

TEST_F(NextDecodePolicy, GrowsByWhatANewSegmentWasGranted) {
  const auto first = turn(streaming(0.5), 100, Modality::kVisual, nullptr);
  ASSERT_TRUE(first);
  EXPECT_EQ(caps_of(*first), (std::vector<std::int64_t>{50, 50}));
  const auto second = turn(streaming(0.5), 40, Modality::kVisual, first.get());
  EXPECT_EQ(caps_of(*second), (std::vector<std::int64_t>{70, 70}));
  const auto short_text = turn(streaming(0.5), 10, Modality::kText, second.get());  // kept whole
  EXPECT_EQ(caps_of(*short_text), (std::vector<std::int64_t>{80, 80}));
}

TEST_F(NextDecodePolicy, AnAbsoluteBudgetStaysTheCap) {
  RecipeSpec spec = streaming(0.5);
  spec.budget_tokens = 30;
  const auto first = turn(spec, 20, Modality::kVisual, nullptr);  // no event, but a cap
  ASSERT_TRUE(first);
  EXPECT_EQ(caps_of(*first), (std::vector<std::int64_t>{30, 30}));
  auto second = turn(spec, 100, Modality::kVisual, first.get());
  EXPECT_EQ(caps_of(*second), (std::vector<std::int64_t>{30, 30}));
  EXPECT_EQ(cache_.slots(LayerId(0), KvHead(0)), 50);
  append(cache_, LayerId(0), next_, 1);
  MergeState state;
  testing::after_layer(*second, cache_, LayerId(0), {}, state);  // whole conversation under the cap again
  EXPECT_EQ(sorted_tokens(cache_, LayerId(0), KvHead(0)), sinks_and_last(4, 120, 30));
}

TEST_F(NextDecodePolicy, NoCapWithoutCompression) {
  EXPECT_FALSE(turn(streaming(1.0), 100, Modality::kVisual, nullptr));
  EXPECT_FALSE(turn(streaming(0.5), 20, Modality::kText, nullptr));  // short text: no event so far
  RecipeSpec once = streaming(0.5);
  once.method = "random";
  EXPECT_FALSE(turn(once, 100, Modality::kVisual, nullptr));
}

}  // namespace
}  // namespace winnow
