#include "engine/layers/tiled_attention.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support {
namespace {

class TiledAttention : public ::testing::Test {
 protected:
  void SetUp() override { at::manual_seed(17); }
};

at::Tensor heads(std::int64_t batch, std::int64_t count, std::int64_t rows, std::int64_t head_dim, at::ScalarType type) {
  return at::randn({batch, rows, count, head_dim}).to(type).transpose(1, 2);
}

// Of enough rows for several tiles, the last of them short; own keys with gaps between rows, or one kv head's.
TEST_F(TiledAttention, EqualsProductsOverWholeRows) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const bool shared : {true, false}) {
      for (const Mask mask : {Mask::kNone, Mask::kCausal}) {
        for (const std::int64_t head_dim : {18, 72}) {
          SCOPED_TRACE(::testing::Message() << at::toString(type) << " shared " << shared << " causal " << (mask == Mask::kCausal)
                                            << " head " << head_dim);
          const std::int64_t rows = 331;
          const auto keys = [&] {
            return shared ? heads(2, 1, rows, head_dim, type).expand({2, 3, rows, head_dim}) : heads(2, 3, rows, head_dim, type);
          };
          const at::Tensor query = heads(2, 3, rows, head_dim, type);
          const at::Tensor key = keys();
          const at::Tensor value = keys();
          const AttentionResult expected =
              plain_attention_with_lse(query.to(at::kFloat), key.to(at::kFloat), value.to(at::kFloat), mask, 0.2);
          const AttentionResult actual = tiled_attention(query, key, value, mask, 0.2);
          EXPECT_EQ(actual.output.scalar_type(), type);
          EXPECT_LE(relative_distance(actual.output, expected.output), type == at::kFloat ? 1e-5 : type == at::kHalf ? 1e-3 : 1e-2);
          EXPECT_LE(relative_distance(actual.log_sum_exp, expected.log_sum_exp), 1e-5);
        }
      }
    }
  }
}

// A row's arithmetic is its own.
TEST_F(TiledAttention, TheNumberOfThreadsChangesNoBit) {
  const at::Tensor query = heads(1, 4, 300, 32, at::kBFloat16);
  const at::Tensor key = heads(1, 4, 300, 32, at::kBFloat16);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const AttentionResult alone = tiled_attention(query, key, key, Mask::kCausal, 0.2);
  at::set_num_threads(3);
  const AttentionResult together = tiled_attention(query, key, key, Mask::kCausal, 0.2);
  at::set_num_threads(before);
  EXPECT_TRUE(at::equal(alone.output, together.output));
  EXPECT_TRUE(at::equal(alone.log_sum_exp, together.log_sum_exp));
}

TEST_F(TiledAttention, TheResultIsAlreadyInTheOrderThatCallersWant) {
  const at::Tensor query = heads(2, 3, 10, 16, at::kBFloat16);
  const at::Tensor shared = heads(2, 1, 10, 16, at::kBFloat16).expand({2, 3, 10, 16});
  EXPECT_TRUE(tiled_attention(query, shared, shared, Mask::kCausal, 1.0).output.permute({2, 0, 1, 3}).is_contiguous());
  EXPECT_TRUE(tiled_attention(query, query, query, Mask::kNone, 1.0).output.transpose(1, 2).is_contiguous());
}

TEST_F(TiledAttention, TakesElementsThatLieApart) {
  const at::Tensor wide = heads(1, 2, 9, 32, at::kBFloat16);
  const at::Tensor apart = wide.slice(3, 0, 32, 2);
  const AttentionResult expected = tiled_attention(apart.contiguous(), apart.contiguous(), apart.contiguous(), Mask::kNone, 0.5);
  EXPECT_TRUE(at::equal(tiled_attention(apart, apart, apart, Mask::kNone, 0.5).output, expected.output));
}

TEST_F(TiledAttention, LeavesOtherTypesHugeHeadsAndFewRowsAlone) {
  const auto takes = [](at::IntArrayRef sizes, at::ScalarType type) {
    const at::Tensor own = at::empty(sizes, type);
    return tiled_attention_takes(own, own, own);
  };
  EXPECT_TRUE(takes({1, 1, 50, 512}, at::kFloat));
  EXPECT_FALSE(takes({1, 1, 50, 513}, at::kFloat));
  EXPECT_FALSE(takes({1, 1, 50, 64}, at::kDouble));
  EXPECT_FALSE(takes({1, 8, 5, 64}, at::kFloat));
  const at::Tensor shared = at::empty({1, 1, 5, 64}).expand({1, 8, 5, 64});
  EXPECT_TRUE(tiled_attention_takes(at::empty({1, 8, 5, 64}), shared, shared));
  const at::Tensor query = heads(1, 1, 4, 8, at::kBFloat16);
  EXPECT_THROW(tiled_attention(query, query.to(at::kFloat), query, Mask::kNone, 1.0), Exception);
}

}  // namespace
}  // namespace winnow::test_support
