#include "engine/layers/attention.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/engine/layers/dense_attention.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support {
namespace {

struct Segment {
  at::Tensor query;  // [n, H, d]
  at::Tensor key;    // [Hkv, n, d]
  at::Tensor value;
  PastKeyValues past;
};

// past_slots: per kv head; empty for none.
Segment random_segment(std::int64_t n, std::int64_t kv_heads, std::int64_t group, std::int64_t d,
                       const std::vector<std::int64_t>& past_slots, at::ScalarType type = at::kFloat) {
  const auto options = at::TensorOptions().dtype(type);
  Segment segment;
  segment.query = at::randn({n, kv_heads * group, d}).to(options);
  segment.key = at::randn({kv_heads, n, d}).to(options);
  segment.value = at::randn({kv_heads, n, d}).to(options);
  for (const std::int64_t slots : past_slots) {
    segment.past.keys.push_back(at::randn({slots, d}).to(options));
    segment.past.values.push_back(at::randn({slots, d}).to(options));
  }
  return segment;
}

void expect_equals_dense(const Segment& segment, std::int64_t first, std::int64_t rows, double tolerance,
                         const AttentionWindow& window = {}) {
  const std::int64_t heads = segment.query.size(1);
  const std::int64_t kv_heads = segment.key.size(0);
  const double scale = 0.37;
  const at::Tensor query = segment.query.narrow(0, first, rows);
  const AttentionResult result = prefill_attention(query, segment.key, segment.value, first, segment.past, scale, window);
  ASSERT_EQ(result.output.sizes(), query.sizes());
  ASSERT_TRUE(result.output.is_contiguous());
  ASSERT_EQ(result.log_sum_exp.sizes(), at::IntArrayRef({heads, rows}));
  ASSERT_EQ(result.log_sum_exp.scalar_type(), at::kFloat);
  const at::Tensor none = at::empty({0, query.size(2)}, query.options());
  for (KvHead head{0}; head < heads; ++head) {
    const std::int64_t kv = head / (heads / kv_heads);
    const auto index = static_cast<std::size_t>(kv);
    const auto dense = dense_attention(query.select(1, head), segment.past.empty() ? none : segment.past.keys[index],
                                       segment.past.empty() ? none : segment.past.values[index], segment.key[kv].narrow(0, 0, first + rows),
                                       segment.value[kv].narrow(0, 0, first + rows), first, scale, window);
    EXPECT_LE(relative_distance(result.output.select(1, head), dense.output), tolerance) << "head " << head;
    EXPECT_LE(relative_distance(result.log_sum_exp[head], dense.log_sum_exp), tolerance) << "head " << head;
  }
}

class PrefillAttention : public ::testing::Test {
 protected:
  void SetUp() override { at::manual_seed(11); }
};

TEST_F(PrefillAttention, EqualsDenseAttentionForEveryGroupAndAwkwardLength) {
  for (const std::int64_t group : {1, 3, 7}) {
    for (const std::int64_t n : {1, 2, 33, 129}) {
      for (const std::int64_t d : {8, 18, 64}) {
        SCOPED_TRACE(::testing::Message() << "group " << group << " n " << n << " d " << d);
        expect_equals_dense(random_segment(n, 2, group, d, {}), 0, n, 1e-5);
      }
    }
  }
}

TEST_F(PrefillAttention, TakesQueriesThatLieHeadByHead) {
  // A decoder keeps them so for an observer; one kv head once made the output a view with gaps.
  for (const std::int64_t kv_heads : {1, 2}) {
    Segment segment = random_segment(20, kv_heads, 3, 16, {});
    segment.query = segment.query.transpose(0, 1).contiguous().transpose(0, 1);
    expect_equals_dense(segment, 5, 15, 1e-5);
  }
}

TEST_F(PrefillAttention, ATileInTheMiddleSeesTheRowsBeforeIt) {
  const Segment segment = random_segment(50, 2, 2, 16, {});
  expect_equals_dense(segment, 0, 17, 1e-5);
  expect_equals_dense(segment, 17, 17, 1e-5);
  expect_equals_dense(segment, 34, 16, 1e-5);
  expect_equals_dense(segment, 49, 1, 1e-5);
}

TEST_F(PrefillAttention, EveryHeadSeesItsOwnCachedSlots) {
  const Segment segment = random_segment(21, 3, 2, 16, {5, 0, 70});
  expect_equals_dense(segment, 0, 21, 1e-5);
  expect_equals_dense(segment, 9, 12, 1e-5);
}

TEST_F(PrefillAttention, AWindowLeavesTheLastTokensAndTheLead) {
  const Segment segment = random_segment(50, 2, 2, 16, {5, 0});
  for (const std::int64_t tokens : {1, 3, 16, 17, 40, 49, 50, 100}) {
    for (const std::int64_t lead : {0, 2, 9, 50}) {
      for (const auto& [first, rows] : {std::pair{0, 50}, std::pair{0, 17}, std::pair{17, 17}, std::pair{34, 16}, std::pair{49, 1}}) {
        SCOPED_TRACE(::testing::Message() << "window " << tokens << " lead " << lead << " rows " << rows << " from " << first);
        expect_equals_dense(segment, first, rows, 1e-5, {tokens, lead});
      }
    }
  }
}

// A picture's rows see all of it, whatever the window; one that is longer than the window, too.
TEST_F(PrefillAttention, RowsOfASpanSeeEachOther) {
  for (const std::vector<std::int64_t>& past : {std::vector<std::int64_t>{}, {5, 0}}) {
    const Segment segment = random_segment(50, 2, 2, 16, past);
    for (const std::int64_t tokens : {0, 1, 4, 9, 20, 100}) {
      for (const std::int64_t lead : {0, 5}) {
        const AttentionWindow window{tokens, lead, {{0, 2}, {9, 16}, {25, 3}, {40, 10}}};
        for (const auto& [first, rows] : {std::pair{0, 50}, std::pair{0, 9}, std::pair{2, 23}, std::pair{28, 22}, std::pair{9, 19}}) {
          SCOPED_TRACE(::testing::Message() << "window " << tokens << " lead " << lead << " rows " << rows << " from " << first);
          expect_equals_dense(segment, first, rows, 1e-5, window);
          AttentionWindow hiding = window;
          hiding.hides_of_spans = true;
          expect_equals_dense(segment, first, rows, 1e-5, hiding);
        }
      }
    }
  }
}

TEST_F(PrefillAttention, ATileThatCutsASpanIsRefused) {
  const Segment segment = random_segment(20, 1, 1, 8, {});
  const AttentionWindow window{0, 0, {{4, 8}}};
  const auto attend = [&](std::int64_t first, std::int64_t rows) {
    return prefill_attention(segment.query.narrow(0, first, rows), segment.key, segment.value, first, {}, 0.3, window);
  };
  EXPECT_THROW(attend(0, 10), Exception);
  EXPECT_THROW(attend(6, 10), Exception);
  EXPECT_NO_THROW(attend(0, 4));
  EXPECT_NO_THROW(attend(12, 8));
}

TEST_F(PrefillAttention, AWindowThatHidesNothingChangesNoBit) {
  const Segment segment = random_segment(40, 2, 3, 16, {});
  for (const AttentionWindow& window : {AttentionWindow{40, 0}, AttentionWindow{1 << 20, 3}}) {
    const at::Tensor query = segment.query.narrow(0, 20, 20);
    const AttentionResult all = prefill_attention(query, segment.key, segment.value, 20, {}, 0.3);
    const AttentionResult windowed = prefill_attention(query, segment.key, segment.value, 20, {}, 0.3, window);
    EXPECT_TRUE(at::equal(all.output, windowed.output));
    EXPECT_TRUE(at::equal(all.log_sum_exp, windowed.log_sum_exp));
  }
}

TEST_F(PrefillAttention, BrainFloatStaysWithinItsRounding) {
  const Segment segment = random_segment(80, 2, 4, 32, {11, 40}, at::kBFloat16);
  expect_equals_dense(segment, 30, 50, 2e-2);  // 8 bits of mantissa, and a second rounding where parts are merged
}

// What GPUs run where flash attention does not apply; the same on any device.
TEST_F(PrefillAttention, PlainTilesEqualTheKernelForSharedAndOwnKeys) {
  for (const bool shared : {true, false}) {
    for (const Mask mask : {Mask::kNone, Mask::kCausal}) {
      for (const std::int64_t tile_elements : {std::int64_t{1}, std::int64_t{2 * 3 * 23 * 5}, kPlainTileElements}) {
        SCOPED_TRACE(::testing::Message() << "shared " << shared << " causal " << (mask == Mask::kCausal) << " tile " << tile_elements);
        const at::Tensor query = at::randn({23, 2, 3, 20}).permute({1, 2, 0, 3});
        const auto heads = [&] {
          return shared ? at::randn({2, 1, 23, 20}).expand({2, 3, 23, 20}) : at::randn({2, 23, 3, 20}).transpose(1, 2);
        };
        const at::Tensor key = heads();
        const at::Tensor value = heads();
        const AttentionResult expected = attention_with_lse(query, key, value, mask, 0.3);
        const AttentionResult actual = plain_attention_with_lse(query, key, value, mask, 0.3, tile_elements);
        EXPECT_LE(relative_distance(actual.output, expected.output), 1e-5);
        EXPECT_LE(relative_distance(actual.log_sum_exp, expected.log_sum_exp), 1e-5);
      }
    }
  }
}

TEST_F(PrefillAttention, MergingIsExactWhereOnePartOutweighsTheOther) {
  // Logits of about +-800: e^800 is infinite in fp32, the merge must not be.
  AttentionResult strong{at::full({1, 1, 1, 2}, 3.0F), at::full({1, 1, 1}, 800.0F)};
  const AttentionResult weak{at::full({1, 1, 1, 2}, -5.0F), at::full({1, 1, 1}, -800.0F)};
  merge_attention(strong, weak);
  EXPECT_FLOAT_EQ(strong.output[0][0][0][0].item<float>(), 3.0F);
  EXPECT_FLOAT_EQ(strong.log_sum_exp.item<float>(), 800.0F);

  // Weights e^0 : e^ln3 = 1 : 3.
  AttentionResult one{at::full({1, 1, 1, 1}, 8.0F), at::zeros({1, 1, 1})};
  merge_attention(one, {at::full({1, 1, 1, 1}, 4.0F), at::full({1, 1, 1}, std::log(3.0F))});
  EXPECT_FLOAT_EQ(one.output.item<float>(), 5.0F);
  EXPECT_NEAR(one.log_sum_exp.item<float>(), std::log(4.0F), 1e-6F);
}

TEST_F(PrefillAttention, RefusesRowsThatTheKeysDoNotCover) {
  const Segment segment = random_segment(8, 2, 2, 16, {});
  EXPECT_THROW(prefill_attention(segment.query, segment.key, segment.value, 1, {}, 1.0), Exception);
}

}  // namespace
}  // namespace winnow::test_support
