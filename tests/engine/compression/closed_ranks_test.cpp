// Positions inside the cache: after events, decoding and further turns every key is where its rank among the slots puts it.
#include "engine/compression/closed_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/base/error.h"
#include "engine/compression/compression_event.h"
#include "engine/compression/next_decode_policy.h"
#include "engine/compression/retained_slots.h"
#include "engine/layers/rotary.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/engine/kv_cache/biased_shape.h"
#include "tests/support/kv_shape.h"

namespace winnow {
namespace {

constexpr std::int64_t kRankDim = 8;
constexpr double kBase = 10000.0;

class ClosedRanks : public ::testing::Test {
 protected:
  static KvShape shape() {
    KvShape shape = test_support::kv_shape(2, 2, kRankDim);
    shape.rotary.theta = kBase;
    return shape;
  }

  static RecipeSpec spec() {
    RecipeSpec spec;
    spec.method = "streaming-llm";
    spec.options["rope"] = "in-cache";
    spec.retention = 0.3;
    spec.min_event_tokens = 0;
    return spec;
  }

  // Keys without their turn, [kv_heads, t, d], of tokens [first, first + t).
  static at::Tensor raw(std::int64_t first, std::int64_t t) {
    std::vector<at::Tensor> tokens;
    for (std::int64_t token = first; token < first + t; ++token) {
      at::manual_seed(static_cast<std::uint64_t>(100 + token));
      tokens.push_back(at::randn({2, 1, kRankDim}));
    }
    return at::cat(tokens, 1);
  }

  static at::Tensor rotated(const at::Tensor& keys, const at::Tensor& positions) {
    return at::stack(
        {rotated_keys(keys[0], positions.unsqueeze(0), {kBase, {}}), rotated_keys(keys[1], positions.unsqueeze(0), {kBase, {}})});
  }

  void append(LayerId layer, std::int64_t t) {
    std::vector<std::int32_t> original(static_cast<std::size_t>(t));
    std::iota(original.begin(), original.end(), static_cast<std::int32_t>(seen_));
    const at::Tensor keys = rotated(raw(seen_, t), at::arange(seen_, seen_ + t, at::kFloat));
    cache_.append(layer, keys, raw(seen_, t), original);
  }

  void turn(const Recipe& recipe, std::int64_t tokens) {
    const std::vector<Modality> modality(static_cast<std::size_t>(tokens), Modality::kText);
    origins_.resize(origins_.size() + static_cast<std::size_t>(tokens));
    SegmentInfo segment = testing::segment_of(modality, 2, 2, 2, static_cast<std::int32_t>(seen_));
    RetainedSlots retained;
    if (recipe.whole_cache() && seen_ > 0) {
      retained = take_retained(cache_, origins_, policy_.get());
      segment.retained = &retained;
    }
    SegmentCompressor compressor(recipe, segment);
    for (LayerId layer{0}; layer < 2; ++layer) {
      append(layer, tokens);
      if (compressor.will_compress()) apply_plan(cache_, compressor, layer, state_);
    }
    seen_ += tokens;
    policy_ = next_decode_policy(policy_.get(), recipe, compressor, cache_);
  }

  void decode(std::int64_t tokens) {
    for (; tokens > 0; --tokens) {
      origins_.emplace_back();
      for (LayerId layer{0}; layer < 2; ++layer) {
        append(layer, 1);
        testing::after_layer(*policy_, cache_, layer, {}, state_);
      }
      ++seen_;
    }
  }

  // Every key equals its raw key rotated to: newest position - number of newer slots.
  void expect_closed(double tolerance) const {
    for (LayerId layer{0}; layer < 2; ++layer) {
      for (KvHead head{0}; head < 2; ++head) {
        const auto original = cache_.original(layer, head);
        const at::Tensor keys = cache_.gather_keys(layer, head);
        const std::int32_t newest = *std::max_element(original.begin(), original.end());
        for (std::size_t slot = 0; slot < original.size(); ++slot) {
          const auto newer = std::count_if(original.begin(), original.end(), [&](std::int32_t other) { return other > original[slot]; });
          const at::Tensor position = at::full({1}, static_cast<double>(newest - newer), at::kFloat);
          const at::Tensor expected = rotated_keys(raw(original[slot], 1).select(0, head), position.unsqueeze(0), {kBase, {}});
          ASSERT_LT((keys[static_cast<std::int64_t>(slot)] - expected[0]).abs().max().item<double>(), tolerance)
              << "layer " << layer << " head " << head << " token " << original[slot];
        }
      }
    }
  }

  KvCache cache_{shape()};
  std::vector<TokenOrigin> origins_;
  std::unique_ptr<DecodePolicy> policy_;
  MergeState state_;
  std::int64_t seen_ = 0;
};

TEST_F(ClosedRanks, AfterAnEventSinksStandBeforeTheWindow) {
  turn(Recipe::from_spec(spec()), 50);
  ASSERT_EQ(cache_.slots(LayerId(0), KvHead(0)), 15);
  expect_closed(1e-5);
}

TEST_F(ClosedRanks, AfterAThousandTokensNothingHasDrifted) {
  turn(Recipe::from_spec(spec()), 50);
  decode(1000);
  ASSERT_EQ(cache_.slots(LayerId(1), KvHead(1)), 15);
  expect_closed(1e-3);  // fp32 angles of positions around a thousand
}

TEST_F(ClosedRanks, OverSeveralTurnsOfEitherPolicy) {
  for (const TurnPolicy policy : {TurnPolicy::kSegment, TurnPolicy::kWhole}) {
    cache_ = KvCache(shape());
    origins_.clear();
    policy_.reset();
    seen_ = 0;
    RecipeSpec with = spec();
    with.turn_policy = policy;
    const Recipe recipe = Recipe::from_spec(with);
    for (int round = 0; round < 3; ++round) {
      turn(recipe, 40);
      expect_closed(1e-4);
      decode(9);
      expect_closed(1e-4);
    }
  }
}

// Of keys that are stored without their bias, it follows to where they are rotated: they lose no more than without one.
TEST_F(ClosedRanks, ABiasFollowsToWhereItsKeyIsRotated) {
  const KvShape biased = testing::biased_shape(1, testing::slow_bias(2, kRankDim), kBase);
  KvCache cache(biased);
  std::vector<std::int32_t> original(50);
  std::iota(original.begin(), original.end(), 0);
  const at::Tensor positions = at::arange(50, at::kLong).unsqueeze(0);
  const at::Tensor keys = raw(0, 50);
  cache.append(LayerId(0), testing::with_bias(keys, *biased.key_bias, positions), keys, original, positions);
  const at::Tensor turns = at::arange(50, at::kLong).neg().add(80).unsqueeze(0);  // all to position 80
  move_keys(cache, LayerId(0), KvHead(1), turns);
  const double step = keys.abs().max().item<double>() / 127.0;
  const auto off = [&](const at::Tensor& at_positions) {
    const at::Tensor expected = testing::with_bias(keys, *biased.key_bias, at_positions)[1];
    return (cache.gather_keys(LayerId(0), KvHead(1)) - expected).abs().max().item<double>();
  };
  EXPECT_LT(off(at::full({1, 50}, 80, at::kLong)), 2.0 * step);
  EXPECT_TRUE(at::equal(StoredSlots::read(cache, LayerId(0), KvHead(1)).positions, at::full({1, 50}, 80, at::kLong)));

  MovingKeys moving(cache, LayerId(0), KvHead(1), {0, 2});
  const std::vector<std::int32_t> left = {7, 9, 1};
  moving.after_leaving(cache, LayerId(0), KvHead(1), left);  // all newer than token 0, two newer than token 2
  at::Tensor moved = at::full({1, 50}, 80, at::kLong);
  moved[0][0] = 83;
  moved[0][2] = 82;
  EXPECT_TRUE(at::equal(StoredSlots::read(cache, LayerId(0), KvHead(1)).positions, moved));
  EXPECT_LT(off(moved), 3.0 * step);
}

// Sorting slots by their tokens rounds nothing anew.
TEST_F(ClosedRanks, SlotsWithoutTheirBiasAreSortedBitForBit) {
  const KvShape biased = testing::biased_shape(1, testing::slow_bias(2, kRankDim), kBase);
  KvCache cache(biased);
  std::vector<std::int32_t> original(70);
  std::iota(original.begin(), original.end(), 0);
  const at::Tensor positions = at::arange(70, at::kLong).unsqueeze(0);
  cache.append(LayerId(0), testing::with_bias(raw(0, 70), *biased.key_bias, positions), raw(0, 70), original, positions);
  const at::Tensor before = cache.gather_keys(LayerId(0), KvHead(0));
  cache.evict(LayerId(0), KvHead(0), 5);
  const std::vector<TokenOrigin> origins(70);
  take_retained(cache, origins, nullptr);
  std::vector<std::int64_t> left;
  for (const std::int32_t token : cache.original(LayerId(0), KvHead(0))) left.push_back(token);
  EXPECT_EQ(left[5], 6);
  EXPECT_TRUE(at::equal(cache.gather_keys(LayerId(0), KvHead(0)), before.index_select(0, at::tensor(left, at::kLong))));
}

TEST_F(ClosedRanks, OtherPositionsAreRefused) {
  KvShape unrotated = shape();
  unrotated.rotary.theta = 0.0;
  cache_ = KvCache(unrotated);
  EXPECT_THROW(turn(Recipe::from_spec(spec()), 50), Exception);
}

}  // namespace
}  // namespace winnow
