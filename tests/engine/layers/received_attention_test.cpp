// What keys receive, counted by attention on its way, against whole rows of probabilities.
#include "engine/layers/layer_view.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/layers/tiled_attention.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support {
namespace {

class ReceivedAttentionTest : public ::testing::Test {
 protected:
  void SetUp() override { at::manual_seed(23); }
};

// A segment of `tokens`: query [n, H, d], key and value [Hkv, n, d].
CausalRows segment(std::int64_t tokens, std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim, at::ScalarType type) {
  const at::Tensor key = at::randn({kv_heads, tokens, head_dim}).to(type);
  return {at::randn({tokens, heads, head_dim}).to(type), key, at::randn({kv_heads, tokens, head_dim}).to(type), 0, 0.25};
}

CausalRows rows_of(const CausalRows& whole, std::int64_t first, std::int64_t count) {
  return {whole.query.narrow(0, first, count), whole.key, whole.value, first, whole.scale};
}

// [H, n, n], double.
at::Tensor probabilities(const CausalRows& rows) {
  const std::int64_t group = rows.query.size(1) / rows.key.size(0);
  const at::Tensor key = rows.key.repeat_interleave(group, 0).to(at::kDouble);
  const at::Tensor logits = at::matmul(rows.query.transpose(0, 1).to(at::kDouble), key.transpose(1, 2)) * rows.scale;
  const at::Tensor later = at::ones({key.size(1), key.size(1)}, at::kBool).triu(1);
  return at::softmax(logits.masked_fill(later, -std::numeric_limits<double>::infinity()), -1);
}

// The segment goes through in pieces, as a prefill's tiles do.
ReceivedAttention received_from(const CausalRows& whole, std::int64_t piece) {
  const std::int64_t tokens = whole.query.size(0);
  ReceivedAttention received = ReceivedAttention::of(ReceivedNeed::kSquares, whole.query.size(1), whole.key.size(0), tokens);
  for (std::int64_t first = 0; first < tokens; first += piece) {
    const CausalRows rows = rows_of(whole, first, std::min(piece, tokens - first));
    ReceivedAttention nobody;
    const AttentionResult plain = causal_attention(rows, nobody);
    const AttentionResult counted = causal_attention(rows, received);
    EXPECT_TRUE(at::equal(plain.output, counted.output));
    EXPECT_TRUE(at::equal(plain.log_sum_exp, counted.log_sum_exp));
  }
  return received;
}

TEST_F(ReceivedAttentionTest, EqualsTheColumnsOfTheWholeMatrix) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::int64_t kv_heads : {1, 2, 6}) {
      for (const std::int64_t piece : {700, 333}) {
        SCOPED_TRACE(::testing::Message() << at::toString(type) << " kv heads " << kv_heads << " piece " << piece);
        const CausalRows whole = segment(700, 6, kv_heads, 24, type);
        const ReceivedAttention received = received_from(whole, piece);
        const at::Tensor expected = probabilities(whole);
        const at::Tensor means = expected.view({kv_heads, -1, 700, 700}).mean(1);
        // A probability of bf16 is off by 2^-8 of itself at most, in either direction.
        const double tolerance = type == at::kBFloat16 ? std::ldexp(1.0, -8) : 1e-5;
        EXPECT_LE(((received.sums - expected.sum(1)).abs() / expected.sum(1)).max().item<double>(), tolerance);
        const at::Tensor squares = means.square().sum(1);
        EXPECT_LE(((received.squares - squares).abs() / squares).max().item<double>(), 2.1 * tolerance);
      }
    }
  }
}

// The result of a piece is that of attention, and so is a window's that hides nothing.
TEST_F(ReceivedAttentionTest, RowsBehindOthersSeeThemToo) {
  const CausalRows whole = segment(400, 4, 2, 32, at::kFloat);
  ReceivedAttention nobody;
  const at::Tensor all = causal_attention(whole, nobody).output;
  EXPECT_TRUE(at::equal(causal_attention(rows_of(whole, 150, 250), nobody).output, all.narrow(0, 150, 250)));
  const AttentionResult piece = prefill_attention(whole.query.narrow(0, 150, 250), whole.key, whole.value, 150, {}, whole.scale);
  EXPECT_TRUE(at::equal(piece.output, all.narrow(0, 150, 250)));
}

TEST_F(ReceivedAttentionTest, TheNumberOfThreadsChangesNoBit) {
  const CausalRows whole = segment(900, 6, 2, 16, at::kBFloat16);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const ReceivedAttention alone = received_from(whole, 450);
  for (int round = 0; round < 5; ++round) {
    at::set_num_threads(3);
    const ReceivedAttention together = received_from(whole, 450);
    EXPECT_TRUE(at::equal(alone.sums, together.sums));
    EXPECT_TRUE(at::equal(alone.squares, together.squares));
  }
  at::set_num_threads(before);
}

// Numbers of many sizes, added in two orders.
TEST_F(ReceivedAttentionTest, TheOrderOfAdditionsChangesNoBit) {
  std::vector<std::vector<float>> parts;
  for (int i = 0; i < 200; ++i) {
    const at::Tensor part = at::rand({1, 50}).mul(6).pow(at::randint(-9, 2, {50})).clamp_max(40.0).to(at::kFloat);
    parts.emplace_back(part.const_data_ptr<float>(), part.const_data_ptr<float>() + 50);
  }
  ReceivedAttention up = ReceivedAttention::of(ReceivedNeed::kSums, 1, 1, 8192);
  ReceivedAttention down = ReceivedAttention::of(ReceivedNeed::kSums, 1, 1, 8192);
  at::Tensor exact = at::zeros({50}, at::kDouble);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    up.add(KvHead(0), 50, parts[i], {});
    down.add(KvHead(0), 50, parts[parts.size() - 1 - i], {});
    exact += at::tensor(parts[i], at::kDouble);
  }
  EXPECT_TRUE(at::equal(up.sums, down.sums));
  EXPECT_LE((up.sums.select(0, 0).narrow(0, 0, 50) - exact).abs().max().item<double>(), 200.0 * std::ldexp(1.0, 15 - 53));
  EXPECT_EQ(up.sums.select(0, 0).narrow(0, 50, 8142).abs().max().item<double>(), 0.0);
  std::vector<float> damaged(50, 0.0F);
  damaged[7] = std::numeric_limits<float>::quiet_NaN();
  up.add(KvHead(0), 50, damaged, {});
  EXPECT_EQ(at::isnan(up.sums).nonzero().select(1, 1).item<std::int64_t>(), 7);
}

}  // namespace
}  // namespace winnow::test_support
