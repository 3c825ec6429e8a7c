#include "engine/layers/gated_delta.h"

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "engine/kv_cache/kv_cache.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support::gated_delta_test {
namespace {

constexpr DeltaSizes kSizes{.key_heads = 2, .value_heads = 4, .key_dim = 8, .value_dim = 12, .kernel = 4};
constexpr std::int64_t kHidden = 24;

GatedDelta random_layer() {
  const auto matrix = [](std::int64_t out, std::int64_t in) { return Linear{at::randn({out, in}) / 4.0, {}}; };
  return {kSizes,
          matrix(kSizes.channels() + kSizes.values(), kHidden),
          matrix(2 * kSizes.value_heads, kHidden),
          at::randn({kSizes.kernel, kSizes.channels()}),
          -at::rand({kSizes.value_heads}),
          at::randn({kSizes.value_heads}),
          {at::rand({kSizes.value_dim}) + 0.5, 1e-6},
          matrix(kHidden, kSizes.values())};
}

LayerState empty_state() {
  const StateShape shape = kSizes.state();
  return {at::zeros({shape.recent, shape.channels}), at::zeros({shape.heads, shape.rows, shape.columns})};
}

class GatedDeltaLayer : public ::testing::Test {
 protected:
  GatedDeltaLayer() { at::manual_seed(5); }
  c10::InferenceMode inference_;
};

// Rows that are read at once, and the same one at a time: the convolution and the rule go on from the state.
TEST_F(GatedDeltaLayer, GoesOnFromItsState) {
  const GatedDelta layer = random_layer();
  const at::Tensor rows = at::randn({70, kHidden});
  LayerState whole = empty_state();
  const at::Tensor at_once = layer(rows, whole);
  for (const std::int64_t piece : {1, 2, 33}) {
    LayerState state = empty_state();
    std::vector<at::Tensor> read;
    for (std::int64_t first = 0; first < rows.size(0); first += piece) read.push_back(layer(rows.slice(0, first, first + piece), state));
    EXPECT_LE(relative_distance(at::cat(read), at_once), 1e-6) << piece;
    EXPECT_LE(relative_distance(state.memory, whole.memory), 1e-6) << piece;
    EXPECT_LE(relative_distance(state.recent, whole.recent), 1e-6) << piece;
  }
}

TEST_F(GatedDeltaLayer, ReadsNothingOfLaterTokens) {
  const GatedDelta layer = random_layer();
  const at::Tensor rows = at::randn({20, kHidden});
  at::Tensor other = rows.clone();
  other.slice(0, 12).fill_(3.0);
  LayerState first = empty_state();
  LayerState second = empty_state();
  EXPECT_TRUE(at::equal(layer(rows, first).slice(0, 0, 12), layer(other, second).slice(0, 0, 12)));
}

// As GGUF files have them: one value head of each key head after the other.
TEST_F(GatedDeltaLayer, ReadsTheSameWithValueHeadsInTurn) {
  const GatedDelta layer = random_layer();
  const at::Tensor heads = at::tensor({0, 2, 1, 3}, at::kLong);  // of 2 key heads
  const at::Tensor values = (heads.unsqueeze(1) * kSizes.value_dim + at::arange(kSizes.value_dim)).flatten();
  const at::Tensor keys = at::arange(2 * kSizes.keys());
  const at::Tensor channels = at::cat({keys, values + 2 * kSizes.keys()});
  const auto matrix = [&](const Linear& of) { return of.weight.columns(0, of.weight.in()); };
  GatedDelta turned = layer;
  turned.sizes.in_turn = true;
  turned.input.weight = matrix(layer.input).index_select(0, at::cat({channels, values + kSizes.channels()}));
  turned.rates.weight = matrix(layer.rates).index_select(0, at::cat({heads, heads + kSizes.value_heads}));
  turned.convolution = layer.convolution.index_select(1, channels).contiguous();
  turned.decay = layer.decay.index_select(0, heads);
  turned.decay_offset = layer.decay_offset.index_select(0, heads);
  turned.output.weight = matrix(layer.output).index_select(1, values).contiguous();
  const at::Tensor rows = at::randn({20, kHidden});
  LayerState state = empty_state();
  LayerState expected = empty_state();
  EXPECT_LE(relative_distance(turned(rows, state), layer(rows, expected)), 1e-6);
  EXPECT_LE(relative_distance(state.memory, expected.memory.index_select(0, heads)), 1e-6);
}

// Chunks of 64 tokens and a rest, behind a state that is not empty, against the definition in fp64.
TEST_F(GatedDeltaLayer, ChunksEqualTheRule) {
  for (const std::int64_t tokens : {1, 5, 64, 150}) {
    const auto unit = [](at::Tensor heads) { return heads / at::linalg_vector_norm(heads, 2, at::IntArrayRef{-1}, true); };
    DeltaRows rows{.query = unit(at::randn({tokens, kSizes.key_heads, kSizes.key_dim})),
                   .key = unit(at::randn({tokens, kSizes.key_heads, kSizes.key_dim})),
                   .value = at::randn({tokens, kSizes.value_heads, kSizes.value_dim}),
                   .decay = -at::rand({tokens, kSizes.value_heads}),
                   .beta = at::rand({tokens, kSizes.value_heads})};
    at::Tensor memory = at::randn({kSizes.value_heads, kSizes.key_dim, kSizes.value_dim});
    at::Tensor exact = memory.to(at::kDouble);
    std::vector<at::Tensor> read;
    const std::int64_t times = kSizes.value_heads / kSizes.key_heads;
    for (std::int64_t token = 0; token < tokens; ++token) {
      const at::Tensor key = rows.key[token].repeat_interleave(times, 0).to(at::kDouble).unsqueeze(2);
      const at::Tensor query = rows.query[token].repeat_interleave(times, 0).to(at::kDouble).unsqueeze(2);
      exact = exact * rows.decay[token].to(at::kDouble).exp().view({-1, 1, 1});
      const at::Tensor known = (exact * key).sum(1);
      const at::Tensor added = (rows.value[token] - known) * rows.beta[token].to(at::kDouble).unsqueeze(1);
      exact = exact + key * added.unsqueeze(1);
      read.push_back((exact * query).sum(1));
    }
    const at::Tensor found = delta_by_chunks(rows, memory);
    EXPECT_LE(relative_distance(found, at::stack(read).to(at::kFloat)), 1e-5) << tokens;
    EXPECT_LE(relative_distance(memory, exact.to(at::kFloat)), 1e-5) << tokens;
  }
}

}  // namespace
}  // namespace winnow::test_support::gated_delta_test
