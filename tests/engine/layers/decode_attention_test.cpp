#include "engine/layers/decode_attention.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "tests/engine/kv_cache/biased_shape.h"
#include "tests/engine/layers/dense_attention.h"
#include "tests/support/kv_shape.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support {
namespace {

KvCache random_cache(std::int64_t kv_heads, std::int64_t head_dim, std::int64_t slots, at::ScalarType type) {
  KvShape shape = test_support::kv_shape(1, kv_heads, head_dim);
  shape.dtype = type;
  KvCache cache(shape);
  std::vector<std::int32_t> original(static_cast<std::size_t>(slots));
  std::iota(original.begin(), original.end(), 0);
  cache.append(LayerId(0), at::randn({kv_heads, slots, head_dim}).to(type), at::randn({kv_heads, slots, head_dim}).to(type), original);
  return cache;
}

void expect_equals_dense(const KvCache& cache, const at::Tensor& query, double tolerance) {
  const at::Tensor result = decode_attention(query, cache, LayerId(0), 0.21);
  ASSERT_EQ(result.sizes(), query.sizes());
  ASSERT_EQ(result.scalar_type(), query.scalar_type());
  const std::int64_t group = query.size(0) / cache.shape().kv_heads;
  for (std::int64_t head = 0; head < query.size(0); ++head) {
    const at::Tensor key = cache.gather_keys(LayerId(0), KvHead(head / group));
    const at::Tensor value = cache.gather_values(LayerId(0), KvHead(head / group));
    const at::Tensor none = at::empty({0, key.size(1)}, key.options());
    const auto dense = dense_attention(query.narrow(0, head, 1), none, none, key, value, key.size(0) - 1, 0.21);
    EXPECT_LE(relative_distance(result.narrow(0, head, 1), dense.output), tolerance) << "head " << head;
  }
}

class DecodeAttention : public ::testing::Test {
 protected:
  void SetUp() override {
    at::manual_seed(5);
    threads_ = at::get_num_threads();
  }
  void TearDown() override { at::set_num_threads(threads_); }
  int threads_ = 1;
};

// A token that was read together with those behind it: their slots are there already.
TEST_F(DecodeAttention, IsThatOfAShorterCacheWhereTheLastSlotsAreUnseen) {
  for (const std::int64_t slots : {70, 4000}) {
    const KvCache whole = random_cache(2, 32, slots, at::kFloat);
    const at::Tensor query = at::randn({4, 32});
    for (const std::int64_t unseen : {1, 7, 64}) {
      KvCache shorter = whole.fork();
      for (KvHead head{0}; head < 2; ++head) {
        for (std::int64_t i = 0; i < unseen; ++i) shorter.evict(LayerId(0), head, shorter.slots(LayerId(0), head) - 1);
      }
      const AttendedRow row{&whole, nullptr, unseen};
      const at::Tensor seen = decode_attention(query.unsqueeze(0), {&row, 1}, LayerId(0), 0.21);
      EXPECT_TRUE(at::equal(seen.squeeze(0), decode_attention(query, shorter, LayerId(0), 0.21))) << slots << " less " << unseen;
    }
  }
}

TEST_F(DecodeAttention, EqualsDenseAttentionForEveryGroupAndLength) {
  for (const std::int64_t group : {1, 2, 7}) {
    for (const std::int64_t slots : {1, 63, 64, 65, 200}) {
      SCOPED_TRACE(::testing::Message() << "group " << group << " slots " << slots);
      expect_equals_dense(random_cache(2, 16, slots, at::kFloat), at::randn({2 * group, 16}), 1e-5);
    }
  }
}

TEST_F(DecodeAttention, HeadsMayHoldDifferentSlots) {
  KvCache cache = random_cache(3, 32, 150, at::kFloat);
  LayerPlan plan{.kept = {{0, 3, 149}, std::vector<std::int32_t>(150), {77}}};
  std::iota(plan.kept[1].begin(), plan.kept[1].end(), 0);
  cache.compact(LayerId(0), 150, plan);
  ASSERT_EQ(cache.slots(LayerId(0), KvHead(2)), 1);
  expect_equals_dense(cache, at::randn({6, 32}), 1e-5);
}

TEST_F(DecodeAttention, SplittingALongHeadOverThreadsChangesNothing) {
  // One kv head, enough blocks for four parts: the merge path.
  const KvCache cache = random_cache(1, 64, 6000, at::kFloat);
  const at::Tensor query = at::randn({4, 64}) * 3;
  at::set_num_threads(1);
  const at::Tensor whole = decode_attention(query, cache, LayerId(0), 0.21);
  at::set_num_threads(4);
  const at::Tensor split = decode_attention(query, cache, LayerId(0), 0.21);
  EXPECT_LE(relative_distance(split, whole), 1e-5);
  expect_equals_dense(cache, query, 1e-5);
}

TEST_F(DecodeAttention, BrainFloatCachesAreReadInPlace) {
  expect_equals_dense(random_cache(2, 64, 300, at::kBFloat16), at::randn({14, 64}).to(at::kBFloat16), 1e-2);
}

// Rounded keys move a logit by at most half a step times the query's length in that norm, e = max over keys of scale |q|_1 step / 2:
// weights change by factors within exp(+-2e), so an output by (exp(2e) - 1) times the largest value; rounded values add half of their step.
TEST_F(DecodeAttention, EightBitsStayWithinTheirBoundOfTheWideCache) {
  constexpr double kScale = 0.125;
  for (const std::int64_t slots : {1, 64, 700}) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
      const KvCache wide = random_cache(2, 64, slots, type);
      KvShape shape = wide.shape();
      shape.storage = KvStorage::kInt8;
      KvCache narrow(shape);
      std::vector<at::Tensor> keys, values;
      for (KvHead head{0}; head < 2; ++head) {
        keys.push_back(wide.gather_keys(LayerId(0), head));
        values.push_back(wide.gather_values(LayerId(0), head));
      }
      narrow.append(LayerId(0), at::stack(keys), at::stack(values), wide.original(LayerId(0), KvHead(0)));
      const at::Tensor query = at::randn({14, 64});
      const at::Tensor off =
          (decode_attention(query, narrow, LayerId(0), kScale) - decode_attention(query, wide, LayerId(0), kScale)).abs();
      EXPECT_GT(off.max().item<double>(), 0.0) << "it was rounded";
      for (std::int64_t head = 0; head < 14; ++head) {
        const auto kv = static_cast<std::size_t>(head / 7);
        const double step = keys[kv].abs().max().item<double>() / 127.0;
        const double value_step = values[kv].abs().max().item<double>() / 127.0;
        const double e = kScale * query[head].abs().sum().item<double>() * step / 2.0;
        const double bound = (std::exp(2.0 * e) - 1.0) * values[kv].abs().max().item<double>() + value_step / 2.0;
        EXPECT_LE(off[head].max().item<double>(), 1.001 * bound) << slots << " slots, head " << head;
      }
      const double wide_norm = decode_attention(query, wide, LayerId(0), kScale).norm().item<double>();
      EXPECT_LE(off.norm().item<double>(), 0.02 * wide_norm) << "and far within it";
    }
  }
}

TEST_F(DecodeAttention, FewerBitsAreReadAsTheirUpcastRows) {
  KvShape shape = random_cache(2, 16, 1, at::kFloat).shape();
  for (const auto& [storage, wide_ends] : {std::pair(KvStorage::kInt8, false),
                                           {KvStorage::kHalf, false},
                                           {KvStorage::kInt4, false},
                                           {KvStorage::kInt8, true},
                                           {KvStorage::kInt4, true}}) {
    shape.storage = storage;
    shape.wide_ends = wide_ends;
    for (const std::int64_t slots : {1, 63, 65, 200, 700}) {
      KvCache cache(shape);
      std::vector<std::int32_t> original(static_cast<std::size_t>(slots));
      std::iota(original.begin(), original.end(), 0);
      cache.append(LayerId(0), at::randn({2, slots, 16}), at::randn({2, slots, 16}), original);
      expect_equals_dense(cache, at::randn({6, 16}), 1e-5);
    }
  }
}

// Dense attention over gathered keys, which have their bias, is the same; in parts for several threads, too.
TEST_F(DecodeAttention, KeysWithoutTheirBiasAreReadAsIfTheyHadIt) {
  KvShape shape = testing::biased_shape(1, testing::slow_bias(2, 64));
  for (const std::int64_t slots : {1, 65, 200, 3000, 3001}) {
    if (slots > 3000) shape.store_in(KvStorage::kInt4);
    KvCache cache(shape);
    std::vector<std::int32_t> original(static_cast<std::size_t>(slots));
    std::iota(original.begin(), original.end(), 0);
    const at::Tensor positions = at::arange(7, 7 + slots, at::kLong).unsqueeze(0);
    const at::Tensor keys = testing::with_bias(at::randn({2, slots, 64}), *shape.key_bias, positions);
    cache.append(LayerId(0), keys, at::randn({2, slots, 64}), original, positions);
    EXPECT_GE(StoredSlots::read(cache, LayerId(0), KvHead(1)).positions.min().item<std::int64_t>(), 7) << "all without";
    at::set_num_threads(slots > 200 ? 4 : 1);
    expect_equals_dense(cache, at::randn({6, 64}) / 16.0, 2e-4);  // logits of hundreds in fp32
  }
}

TEST_F(DecodeAttention, AnEmptyHeadIsAnError) {
  const KvCache cache(test_support::kv_shape(1, 1, 8));
  EXPECT_THROW(decode_attention(at::randn({1, 8}), cache, LayerId(0), 1.0), Exception);
}

}  // namespace
}  // namespace winnow::test_support
