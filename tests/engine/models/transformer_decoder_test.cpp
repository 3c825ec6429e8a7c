#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/vision/llava_vision_config.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <span>
#include <thread>

#include "engine/base/error.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/families/llava_onevision_folder.h"
#include "engine/weights/weight_files.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support {
namespace {

// The decoder of a golden folder, with tiles of any size.
TransformerDecoder decoder(const std::string& name, std::int64_t tile_rows) {
  const std::string folder = golden_folder(name) + "/model";
  ModelWeights weights(open_weight_files(folder), llava_weight_name_rules());
  WeightReader reader(weights, {}, at::kCPU);
  return TransformerDecoder(read_llava_onevision(HuggingFaceFolder(folder)).model.text, reader, "language_model.", tile_rows);
}

at::Tensor random_hidden(const TextDecoder& text, std::int64_t rows) {
  at::manual_seed(9);
  return text.embed(at::randint(0, text.vocabulary(), {rows}, at::kLong));
}

struct Collected : PrefillObserver {
  bool wants_views() const override { return true; }
  void on_layer(const LayerView& view) override {
    views.push_back(view);
    views.back().query = view.query.clone();
    views.back().key = view.key.clone();
    views.back().log_sum_exp = view.log_sum_exp.clone();
  }
  std::vector<LayerView> views;
};

class TransformerDecoderTest : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

TEST_F(TransformerDecoderTest, TilesOfAnySizeEqualOne) {
  for (const char* const name : {"gqa_tied", "mha_untied", "head_dim"}) {
    const TransformerDecoder whole = decoder(name, 1024);
    KvCache whole_cache(whole.kv_shape());
    const at::Tensor input = random_hidden(whole, 50);
    const at::Tensor expected = prefill(whole, input.clone(), 0, whole_cache);
    for (const std::int64_t rows : {1, 7, 25, 49}) {
      SCOPED_TRACE(::testing::Message() << name << " tile " << rows);
      const TransformerDecoder tiled = decoder(name, rows);
      KvCache cache(tiled.kv_shape());
      EXPECT_LE(relative_distance(prefill(tiled, input.clone(), 0, cache), expected), 1e-5);
      EXPECT_LE(relative_distance(cache.gather_keys(LayerId(1), KvHead(0)), whole_cache.gather_keys(LayerId(1), KvHead(0))), 1e-5);
    }
  }
}

TEST_F(TransformerDecoderTest, ASegmentOnTopOfACacheEqualsOnePass) {
  for (const char* const name : {"gqa_tied", "mha_untied", "head_dim"}) {
    SCOPED_TRACE(name);
    const TransformerDecoder text = decoder(name, 16);
    const at::Tensor input = random_hidden(text, 60);
    KvCache whole_cache(text.kv_shape());
    const at::Tensor expected = prefill(text, input.clone(), 0, whole_cache);
    KvCache cache(text.kv_shape());
    const at::Tensor first = prefill(text, input.narrow(0, 0, 23).clone(), 0, cache);
    const at::Tensor second = prefill(text, input.narrow(0, 23, 37).clone(), 23, cache);
    EXPECT_LE(relative_distance(at::cat({first, second}, 0), expected), 1e-5);
    EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 60);
    EXPECT_EQ(cache.original(LayerId(1), KvHead(0))[59], 59);
  }
}

TEST_F(TransformerDecoderTest, DecodingEqualsPrefilling) {
  for (const char* const name : {"gqa_tied", "mha_untied", "no_bias_scaled", "head_dim"}) {
    SCOPED_TRACE(name);
    const TransformerDecoder text = decoder(name, 1024);
    at::manual_seed(10);
    const at::Tensor ids = at::randint(0, text.vocabulary(), {70}, at::kLong);
    KvCache whole_cache(text.kv_shape());
    const at::Tensor expected = text.logits(prefill(text, text.embed(ids), 0, whole_cache));
    KvCache cache(text.kv_shape());
    prefill(text, text.embed(ids.narrow(0, 0, 60)), 0, cache);
    for (std::int64_t i = 60; i < 70; ++i) {
      const at::Tensor logits = text.decode({ids[i].item<std::int64_t>(), i, static_cast<std::int32_t>(i)}, cache, nullptr);
      ASSERT_EQ(logits.scalar_type(), at::kFloat);
      EXPECT_LE(relative_distance(logits, expected[i]), 1e-5) << "token " << i;
    }
  }
}

// Drops the oldest slot of one head after each layer, so that the cache is ragged from then on.
class EvictingObserver final : public DecodeObserver {
 public:
  explicit EvictingObserver(KvCache& cache) : cache_(cache) {}
  bool wants_probabilities() const override { return true; }
  void after_layers(LayerId layer, std::span<const DecodeRow> row) override {
    layers.push_back(layer);
    rows.insert(rows.end(), row.begin(), row.end());
    cache_.evict(layer, KvHead(1), 0);
  }

  std::vector<std::int64_t> layers;
  std::vector<DecodeRow> rows;

 private:
  KvCache& cache_;
};

TEST_F(TransformerDecoderTest, DecodingMayEvictAfterEachLayer) {
  const TransformerDecoder text = decoder("mha_untied", 1024);
  KvCache cache(text.kv_shape());
  prefill(text, random_hidden(text, 20), 0, cache);
  EvictingObserver observer(cache);
  text.decode({5, 20, 20}, cache, &observer);
  EXPECT_EQ(observer.layers, (std::vector<std::int64_t>{0, 1}));
  for (const DecodeRow& row : observer.rows)
    for (const std::vector<float>& head : row.probabilities) {
      EXPECT_EQ(head.size(), 21U);  // 20 slots and the token's own
      EXPECT_NEAR(std::accumulate(head.begin(), head.end(), 0.0), 1.0, 1e-5);
    }
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 21);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(1)), 20);
  EXPECT_TRUE(at::isfinite(text.decode({6, 21, 21}, cache, nullptr)).all().item<bool>());
}

TEST_F(TransformerDecoderTest, ASegmentSeesOnlyTheSlotsThatStayed) {
  // Compacting to a prefix must equal never having had the rest.
  const TransformerDecoder text = decoder("head_dim", 8);
  const at::Tensor input = random_hidden(text, 40);
  KvCache cut(text.kv_shape());
  prefill(text, input.narrow(0, 0, 30).clone(), 0, cut);
  LayerPlan plan;
  plan.kept.assign(LayerId(2), std::vector<std::int32_t>(12));
  for (auto& kept : plan.kept) std::iota(kept.begin(), kept.end(), 0);
  for (LayerId layer{0}; layer < text.layers(); ++layer) cut.compact(layer, 30, plan);
  KvCache short_cache(text.kv_shape());
  prefill(text, input.narrow(0, 0, 12).clone(), 0, short_cache);
  EXPECT_LE(relative_distance(prefill(text, input.narrow(0, 30, 10).clone(), 30, cut),
                              prefill(text, input.narrow(0, 30, 10).clone(), 30, short_cache)),
            1e-5);
}

TEST_F(TransformerDecoderTest, TheObserverSeesWhatTheAttentionUsed) {
  const TransformerDecoder text = decoder("gqa_tied", 9);
  const at::Tensor input = random_hidden(text, 31);
  KvCache cache(text.kv_shape());
  prefill(text, input.narrow(0, 0, 11).clone(), 0, cache);
  Collected collected;
  prefill(text, input.narrow(0, 11, 20).clone(), 11, cache, &collected);
  ASSERT_EQ(collected.views.size(), 2U);
  const LayerView& view = collected.views[1];
  EXPECT_EQ(view.layer, 1);
  EXPECT_EQ(view.query.sizes(), at::IntArrayRef({4, 20, 12}));
  EXPECT_EQ(view.key.sizes(), at::IntArrayRef({1, 20, 12}));
  ASSERT_EQ(view.past_keys.size(), 1U);
  EXPECT_EQ(view.past_keys[0].size(0), 11);
  EXPECT_NEAR(view.scale, 1.0 / std::sqrt(12.0), 1e-12);
  // The probabilities rebuilt from log-sum-exp sum to one over what each row may see.
  const at::Tensor keys = at::cat({view.past_keys[0], view.key[0]}, 0);
  const at::Tensor logits = at::matmul(view.query, keys.t()) * view.scale;
  const at::Tensor hidden_part = at::arange(31).unsqueeze(0) > at::arange(20).unsqueeze(1) + 11;
  const at::Tensor sums = at::exp(logits - view.log_sum_exp.unsqueeze(-1)).masked_fill(hidden_part, 0.0).sum(-1);
  EXPECT_LE((sums - 1.0).abs().max().item<double>(), 1e-5);
}

// Attention counts what it is asked for, over tiles of any size, and nothing else of the prefill changes; where it cannot tell, it says
// nothing.
TEST_F(TransformerDecoderTest, AttentionCountsWhatKeysReceive) {
  struct Counting : Collected {
    ReceivedNeed wants_received() const override { return need; }
    ReceivedNeed need = ReceivedNeed::kSquares;
  };
  for (const char* const name : {"gqa_tied", "mha_untied"}) {
    for (const std::int64_t tile : {40, 90}) {
      SCOPED_TRACE(::testing::Message() << name << " tile " << tile);
      const TransformerDecoder text = decoder(name, tile);
      const at::Tensor input = random_hidden(text, 90);
      KvCache cache(text.kv_shape()), other(text.kv_shape());
      Counting counting;
      Collected plain;
      const at::Tensor hidden = prefill(text, input.clone(), 0, cache, &counting);
      EXPECT_TRUE(at::equal(hidden, prefill(text, input.clone(), 0, other, &plain)));
      EXPECT_FALSE(plain.views[0].received.wanted());
      const LayerView& view = counting.views[1];
      const std::int64_t group = view.query.size(0) / view.key.size(0);
      const at::Tensor logits = at::matmul(view.query, view.key.repeat_interleave(group, 0).transpose(1, 2)) * view.scale;
      const at::Tensor later = at::ones({90, 90}, at::kBool).triu(1);
      const at::Tensor probabilities = at::exp(logits - view.log_sum_exp.unsqueeze(-1)).masked_fill(later, 0.0);
      EXPECT_LE(relative_distance(view.received.sums, probabilities.sum(1)), 1e-5);
      EXPECT_LE(relative_distance(view.received.squares, probabilities.view({-1, group, 90, 90}).mean(1).square().sum(1)), 1e-5);

      Counting behind_others;
      prefill(text, random_hidden(text, 90), 90, cache, &behind_others);
      EXPECT_FALSE(behind_others.views[0].received.wanted());
    }
  }
}

TEST_F(TransformerDecoderTest, AnObserverThatWantsNothingIsNotCalled) {
  struct Silent : PrefillObserver {
    bool wants_views() const override { return false; }
    void on_layer(const LayerView&) override { FAIL() << "called"; }
  } silent;
  const TransformerDecoder text = decoder("gqa_tied", 9);
  KvCache cache(text.kv_shape());
  prefill(text, random_hidden(text, 20), 0, cache, &silent);
}

// What is watched only leaves no slot, and its views are those of rows that stay.
TEST_F(TransformerDecoderTest, RowsThatAreOnlyWatchedLeaveNothing) {
  struct Passing : Collected {
    bool keeps_rows() const override { return false; }
  } passing;
  const TransformerDecoder text = decoder("gqa_tied", 9);
  const at::Tensor input = random_hidden(text, 31);
  KvCache cache(text.kv_shape());
  prefill(text, input.narrow(0, 0, 11).clone(), 0, cache);
  prefill(text, input.narrow(0, 11, 20).clone(), 11, cache, &passing);
  for (LayerId layer{0}; layer < text.layers(); ++layer) EXPECT_EQ(cache.slots(layer, KvHead(0)), 11);
  Collected staying;
  prefill(text, input.narrow(0, 11, 20).clone(), 11, cache, &staying);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 31);
  ASSERT_EQ(passing.views.size(), staying.views.size());
  for (std::size_t i = 0; i < staying.views.size(); ++i) {
    EXPECT_TRUE(at::equal(passing.views[i].query, staying.views[i].query));
    EXPECT_TRUE(at::equal(passing.views[i].log_sum_exp, staying.views[i].log_sum_exp));
  }
}

TEST_F(TransformerDecoderTest, AnInterruptEndsALayerWithinATile) {
  const TransformerDecoder text = decoder("gqa_tied", 1);
  const std::int64_t rows = 30000;  // minutes in tiles of one row
  KvCache cache(text.kv_shape());
  at::Tensor hidden = at::randn({rows, 48});
  const at::Tensor positions = at::arange(rows, at::kLong).unsqueeze(0);
  std::vector<std::int32_t> original(static_cast<std::size_t>(rows));
  std::iota(original.begin(), original.end(), 0);
  InterruptSource cancel;
  std::chrono::steady_clock::time_point asked;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    asked = std::chrono::steady_clock::now();
    cancel.request_cancel();
  });
  EXPECT_THROW(text.prefill_layer(LayerId(0), hidden, positions, original, cache, nullptr, {}, cancel.token()), Interrupted);
  const auto late = std::chrono::steady_clock::now() - asked;
  other.join();
  EXPECT_LT(std::chrono::duration_cast<std::chrono::milliseconds>(late).count(), 200);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 0);  // a layer is appended whole or not at all
}

TEST_F(TransformerDecoderTest, RefusesWhatDoesNotFit) {
  const TransformerDecoder text = decoder("gqa_tied", 16);
  KvCache cache(text.kv_shape());
  EXPECT_THROW(text.decode({-1, 0, 0}, cache, nullptr), Exception);
  EXPECT_THROW(text.decode({text.vocabulary(), 0, 0}, cache, nullptr), Exception);
  at::Tensor hidden = at::zeros({4, 48});
  const std::vector<std::int32_t> original = {0, 1, 2, 3};
  EXPECT_THROW(text.prefill_layer(LayerId(0), hidden, at::zeros({3, 4}, at::kLong), original, cache, nullptr, {}, {}), Exception);
  EXPECT_THROW(text.prefill_layer(LayerId(2), hidden, at::zeros({1, 4}, at::kLong), original, cache, nullptr, {}, {}), Exception);
}

}  // namespace
}  // namespace winnow::test_support
