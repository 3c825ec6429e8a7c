// What only Gemma 4 has: heads of two sizes, layers that borrow keys, layers with KV heads or inputs of their own. Its golden cases are
// compared by the suites over all families.

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "engine/layers/rotary.h"
#include "engine/models/decoder/narrow_heads.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support::gemma4_test {
namespace {

class Gemma4Text : public ::testing::TestWithParam<const char*> {
 protected:
  const TextDecoder& text() const { return model_->text(); }
  KvCache empty() const { return KvCache(text().kv_shape()); }
  at::Tensor last_logits(const at::Tensor& hidden) const { return text().logits(hidden.slice(0, -1))[0]; }
  at::Tensor read(const at::Tensor& ids, std::int64_t first, KvCache& cache, PrefillObserver* observer = nullptr) const {
    return prefill(text(), text().embed(ids), first, cache, observer);
  }
  at::Tensor step(std::int64_t id, std::int64_t at, KvCache& cache) const {
    return text().decode({id, at, static_cast<std::int32_t>(at)}, cache, nullptr);
  }

  c10::InferenceMode inference_;
  std::unique_ptr<VisionLanguageModel> model_ = load_golden_model(GetParam());
  GoldenTensors golden_{golden_folder(GetParam()) + "/golden.safetensors"};
};

TEST_P(Gemma4Text, EqualsTheReference) {
  KvCache cache = empty();
  const at::Tensor ids = golden_.load("text.input_ids");
  at::Tensor logits = last_logits(read(ids, 0, cache));
  EXPECT_LE(relative_distance(logits, golden_.load("text.logits")), 1e-4);
  const at::Tensor greedy = golden_.load("text.greedy");
  for (std::int64_t i = 0; i < greedy.numel(); ++i) {
    ASSERT_EQ(logits.argmax().item<std::int64_t>(), greedy[i].item<std::int64_t>()) << i;
    logits = step(greedy[i].item<std::int64_t>(), ids.numel() + i, cache);
  }
}

// The second piece begins where a window has passed by some of what the first one left: layers that borrow see what their lender saw.
TEST_P(Gemma4Text, APromptInPiecesIsReadAsAWhole) {
  const at::Tensor ids = golden_.load("text.input_ids").repeat({3});
  KvCache whole = empty();
  const at::Tensor logits = last_logits(read(ids, 0, whole));
  for (const std::int64_t first : {1, 30, 71}) {
    KvCache pieces = empty();
    read(ids.slice(0, 0, first), 0, pieces);
    EXPECT_LE(relative_distance(last_logits(read(ids.slice(0, first), first, pieces)), logits), 1e-5) << first;
    KvCache steps = empty();
    at::Tensor last = last_logits(read(ids.slice(0, 0, first), 0, steps));
    for (std::int64_t i = first; i < ids.numel(); ++i) last = step(ids[i].item<std::int64_t>(), i, steps);
    EXPECT_LE(relative_distance(last, logits), 1e-5) << first;
  }
}

// More rows than a tile has.
TEST_P(Gemma4Text, EarlierRowsDoNotDependOnTheTilesBehindThem) {
  const at::Tensor ids = golden_.load("text.input_ids").repeat({40});
  ASSERT_GT(ids.numel(), TransformerDecoder::kTileRows);
  KvCache whole = empty();
  const at::Tensor hidden = read(ids, 0, whole);
  KvCache begun = empty();
  EXPECT_LE(relative_distance(read(ids.slice(0, 0, 500), 0, begun), hidden.slice(0, 0, 500)), 1e-5);
}

TEST_P(Gemma4Text, AForkGoesOnWithoutItsOrigin) {
  const at::Tensor ids = golden_.load("text.input_ids");
  KvCache cache = empty();
  read(ids, 0, cache);
  KvCache fork = cache.fork();
  const at::Tensor once = step(5, ids.numel(), fork);
  step(9, ids.numel() + 1, fork);
  EXPECT_TRUE(at::equal(step(5, ids.numel(), cache), once));
}

INSTANTIATE_TEST_SUITE_P(Folders, Gemma4Text,
                         ::testing::Values("gemma4/published", "gemma4/saved", "gemma4_large/plain", "gemma4_large/dense",
                                           "gemma4_experts/saved", "gemma4_unified/published", "gemma4_unified/saved"),
                         testing::folder_info_name);

// Evicts everything but the newest slots of every layer as soon as it has been seen.
class Forgetful final : public PrefillObserver {
 public:
  explicit Forgetful(KvCache& cache) : cache_(cache) {}
  bool wants_views() const override { return true; }
  void on_layer(const LayerView& view) override {
    LayerPlan plan;
    for (KvHead head{0}; head < cache_.shape().kv_heads; ++head) {
      const auto slots = static_cast<std::int32_t>(cache_.slots(view.layer, head));
      plan.kept.push_back({slots - 2, slots - 1});
    }
    cache_.compact_all(view.layer, plan);
  }

 private:
  KvCache& cache_;
};

TEST(Gemma4Borrowing, APromptIsReadAsIfNothingWereDroppedOnTheWay) {
  const c10::InferenceMode inference;
  const auto model = load_golden_model("gemma4/published");
  const at::Tensor ids = GoldenTensors(golden_folder("gemma4/published") + "/golden.safetensors").load("text.input_ids");
  const TextDecoder& text = model->text();
  KvCache kept(text.kv_shape());
  const at::Tensor hidden = prefill(text, text.embed(ids), 0, kept);
  KvCache dropped(text.kv_shape());
  Forgetful forgetful(dropped);
  EXPECT_TRUE(at::equal(prefill(text, text.embed(ids), 0, dropped, &forgetful), hidden));
  EXPECT_EQ(dropped.slots(LayerId(0), KvHead(0)), 2);
  const auto next = [&](KvCache& cache) { return text.decode({5, ids.numel(), static_cast<std::int32_t>(ids.numel())}, cache, nullptr); };
  EXPECT_FALSE(at::equal(next(dropped), next(kept))) << "a decoded token attends to what is left";
}

TEST(Gemma4Borrowing, HalfAPrefillLeavesNothingForTheNextOne) {
  const c10::InferenceMode inference;
  const auto model = load_golden_model("gemma4/published");
  const TextDecoder& text = model->text();
  const at::Tensor ids = at::arange(5, 45, at::kLong);
  KvCache cache(text.kv_shape());
  const at::Tensor once = prefill(text, text.embed(ids), 0, cache);
  const at::Tensor positions = at::arange(ids.numel(), at::kLong).unsqueeze(0);
  std::vector<std::int32_t> originals(static_cast<std::size_t>(ids.numel()));
  std::iota(originals.begin(), originals.end(), 0);
  KvCache other(text.kv_shape());
  at::Tensor hidden = text.embed(ids);
  text.prefill_layer(LayerId(0), hidden, positions, originals, other, nullptr, {}, {});
  EXPECT_THROW(text.prefill_layer(LayerId(2), hidden, positions, originals, other, nullptr, {}, {}), Exception)
      << "without the layer before";
  KvCache again(text.kv_shape());
  EXPECT_TRUE(at::equal(prefill(text, text.embed(ids), 0, again), once));
}

TEST(Gemma4Shape, LayersThatBorrowHaveNoSlots) {
  const c10::InferenceMode inference;
  const auto model = load_golden_model("gemma4/published");
  const KvShape shape = model->text().kv_shape();
  EXPECT_EQ(shape.layers, 3);
  EXPECT_EQ(model->info().layers, 3);
  EXPECT_EQ(shape.head_dim, 16);
  EXPECT_EQ(shape.windows.values(), (std::vector<std::int64_t>{20, 0, 20}));
  EXPECT_EQ(shape.rotary, RotaryScheme{}) << "keys that rotate in two ways cannot be moved";
  EXPECT_EQ(model->info().traits.window, 20);
  EXPECT_TRUE(model->info().traits.reads_videos);
}

// As many as a window holds, in as many heads as the layers under it have; the others' lie apart from them.
TEST(Gemma4Shape, LayersWithKvHeadsOfTheirOwnHaveTheirSlotsBeside) {
  const c10::InferenceMode inference;
  const auto model = load_golden_model("gemma4_large/dense");
  const KvShape shape = model->text().kv_shape();
  EXPECT_EQ(shape.layers, 2);
  EXPECT_EQ(shape.kv_heads, 1);
  EXPECT_EQ(shape.head_dim, 16);
  EXPECT_TRUE(shape.windows.empty());
  EXPECT_NE(shape.rotary, RotaryScheme{}) << "all keys of these layers rotate in one way";
  ASSERT_TRUE(shape.sliding);
  EXPECT_EQ(shape.sliding->layers, 4);
  EXPECT_EQ(shape.sliding->kv_heads, 2);
  EXPECT_EQ(shape.sliding->head_dim, 8);
  EXPECT_EQ(shape.sliding->windows.values(), (std::vector<std::int64_t>(4, 20)));
  EXPECT_EQ(shape.sliding_with.values(), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(model->info().layers, 2);
  EXPECT_EQ(model->info().state_layers, 4);
  EXPECT_EQ(model->info().state_bytes, 4 * 2 * 19 * 2 * 8 * 4);
  EXPECT_EQ(model->info().traits.window, 20);
  KvCache cache(shape);
  const at::Tensor ids = at::arange(5, 35, at::kLong);
  prefill(model->text(), model->text().embed(ids), 0, cache);
  EXPECT_EQ(cache.slots(LayerId(1), KvHead(0)), 30);
  EXPECT_EQ(cache.sliding()->slots(LayerId(3), KvHead(1)), 19);
  EXPECT_EQ(bytes_beside(cache), model->info().state_bytes);
}

// Two passes begin each layer again, and whoever drops slots of the others leaves these alone.
TEST(Gemma4Sliding, ALayerIsRestoredWithWhatLiesBeside) {
  const c10::InferenceMode inference;
  const auto model = load_golden_model("gemma4_large/dense");
  const TextDecoder& text = model->text();
  KvCache cache(text.kv_shape());
  prefill(text, text.embed(at::arange(5, 40, at::kLong)), 0, cache);
  const KvCache before = cache.fork();
  const auto next = [&](KvCache& of) { return text.decode({7, 35, 35}, of, nullptr); };
  KvCache other = cache.fork();
  const at::Tensor once = next(other);
  next(cache);
  for (LayerId layer{0}; layer < text.layers(); ++layer) WholeLayer::restore(cache, layer, before);
  EXPECT_EQ(cache.sliding()->original(LayerId(0), KvHead(0)).back(), 34);
  EXPECT_TRUE(at::equal(next(cache), once));
  const std::array<const KvCache*, 2> both = {&before, &cache};
  EXPECT_GT(bytes_allocated_together(both), bytes_allocated_together({both.data(), 1})) << "the token's blocks are its own";
}

// A later token of a picture changes what an earlier one hands on, in layers with a window; without spans nothing does.
TEST(Gemma4Sliding, PicturesSeeThemselvesUnderAWindow) {
  const c10::InferenceMode inference;
  const auto model = load_golden_model("gemma4_large/dense");
  const TextDecoder& text = model->text();
  const at::Tensor positions = at::arange(12, at::kLong).unsqueeze(0);
  std::vector<std::int32_t> originals(12);
  std::iota(originals.begin(), originals.end(), 0);
  const auto third_row = [&](std::int64_t last_id, const AttentionWindow& window) {
    at::Tensor ids = at::arange(5, 17, at::kLong);
    ids[9] = last_id;
    at::Tensor hidden = text.embed(ids);
    KvCache cache(text.kv_shape());
    for (LayerId layer{0}; layer < text.layers(); ++layer)
      text.prefill_layer(layer, hidden, positions, originals, cache, nullptr, window, {});
    return hidden[3].clone();
  };
  EXPECT_TRUE(at::equal(third_row(40, {}), third_row(90, {})));
  const AttentionWindow picture{.bidirectional = {{2, 8}}};
  EXPECT_FALSE(at::equal(third_row(40, picture), third_row(90, picture)));
  const AttentionWindow before{.bidirectional = {{2, 7}}};
  EXPECT_TRUE(at::equal(third_row(40, before), third_row(90, before)));
}

TEST(NarrowHeads, RotateInLongRowsAsInTheirOwn) {
  const c10::InferenceMode inference;
  const at::Tensor heads = at::arange(3 * 2 * 8, at::kFloat).view({3, 2, 8});
  EXPECT_TRUE(at::equal(narrowed_heads(widened_heads(heads, 14), 8), heads));
  const at::Tensor positions = at::tensor({0, 5, 900}, at::kLong).unsqueeze(0);
  at::Tensor own = at::empty_like(heads);
  apply_rotary(heads, RotaryEmbedding(8, {1e4}, at::kFloat, at::kCPU).angles(positions), own);
  at::Tensor wide = at::empty({3, 2, 14}, at::kFloat);
  const RotaryScheme scheme{1e4, {}, {}, 1.0, 8};
  apply_rotary(widened_heads(heads, 14), RotaryEmbedding(14, scheme, at::kFloat, at::kCPU).angles(positions), wide);
  EXPECT_TRUE(at::equal(wide, widened_heads(own, 14)));
}

// A row brings its first hidden state and its id along, exactly, whatever the arithmetic type.
TEST(Gemma4Inputs, ARowBringsItsIdAlong) {
  const c10::InferenceMode inference;
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const auto model = load_golden_model("gemma4/published", type);
    const at::Tensor rows = model->text().embed(at::tensor({0, 255, 256, 300}, at::kLong)).to(at::kFloat);
    EXPECT_TRUE(at::equal(rows.narrow(1, 0, 32), rows.narrow(1, 32, 32)));
    const at::Tensor digits = at::tensor({0, 0, 0, 255, 0, 0, 0, 1, 0, 44, 1, 0}, at::kFloat).view({4, 3});
    EXPECT_TRUE(at::equal(rows.narrow(1, 64, 3), digits));
  }
}

}  // namespace
}  // namespace winnow::test_support::gemma4_test
