// What only Gemma 4 has: heads of two sizes, layers that borrow keys, layers with inputs of their own. Its golden cases are compared by the
// suites over all families.
#include "engine/models/gemma4/gemma4.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "engine/layers/rotary.h"
#include "engine/models/narrow_heads.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/tensor_distance.h"

namespace winnow::gemma4_test {
namespace {

using test_support::golden_folder;
using test_support::GoldenTensors;
using test_support::load_golden_model;
using test_support::prefill;
using test_support::relative_distance;

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

INSTANTIATE_TEST_SUITE_P(Folders, Gemma4Text, ::testing::Values("gemma4/published", "gemma4/saved", "gemma4/plain"),
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
}  // namespace winnow::gemma4_test
