// What only Qwen3.5 has: layers without slots, which go on from a state. Its golden cases are compared by the suites over all families.

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/engine/models/golden_model.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support::qwen3_5_test {
namespace {

constexpr const char* kFolders[] = {"qwen3_5/published", "qwen3_5/saved", "qwen3_5_moe/published"};

class Qwen35 : public ::testing::TestWithParam<const char*> {
 protected:
  // Tokens behind those in the cache, at places that go on; the hidden states.
  at::Tensor read(const at::Tensor& ids, KvCache& cache, PrefillObserver* observer = nullptr) const {
    const std::int64_t first = cache.slots(LayerId(0), KvHead(0));
    std::vector<std::int32_t> originals(static_cast<std::size_t>(ids.numel()));
    std::iota(originals.begin(), originals.end(), static_cast<std::int32_t>(first));
    at::Tensor hidden = text().embed(ids);
    const at::Tensor positions = at::arange(first, first + ids.numel(), at::kLong).expand({3, -1});
    for (LayerId layer{0}; layer < text().layers(); ++layer)
      text().prefill_layer(layer, hidden, positions, originals, cache, observer, {}, {});
    return hidden;
  }
  at::Tensor last_logits(const at::Tensor& hidden) const { return text().logits(hidden.slice(0, -1))[0]; }
  at::Tensor step(std::int64_t id, KvCache& cache) const {
    const std::int64_t place = cache.slots(LayerId(0), KvHead(0));
    return text().decode({id, place, static_cast<std::int32_t>(place)}, cache, nullptr);
  }
  const TextDecoder& text() const { return model_->text(); }
  KvCache empty() const { return KvCache(text().kv_shape()); }

  c10::InferenceMode inference_;
  std::unique_ptr<VisionLanguageModel> model_ = load_golden_model(GetParam());
  GoldenTensors golden_{golden_folder(GetParam()) + "/golden.safetensors"};
};

TEST_P(Qwen35, TextEqualsTheReference) {
  KvCache cache = empty();
  at::Tensor logits = last_logits(read(golden_.load("text.input_ids"), cache));
  EXPECT_LE(relative_distance(logits, golden_.load("text.logits")), 1e-4);
  const at::Tensor greedy = golden_.load("text.greedy");
  for (std::int64_t i = 0; i < greedy.numel(); ++i) {
    ASSERT_EQ(logits.argmax().item<std::int64_t>(), greedy[i].item<std::int64_t>()) << i;
    logits = step(greedy[i].item<std::int64_t>(), cache);
  }
}

TEST_P(Qwen35, StatesOfATextEqualTheReference) {
  KvCache cache = empty();
  read(golden_.load("text.input_ids"), cache);
  std::vector<at::Tensor> memory;
  std::vector<at::Tensor> recent;
  for (LayerId layer{0}; layer < text().layers(); ++layer) {
    for (std::int64_t which = 0; which < cache.states().of_layer(layer); ++which) {
      memory.push_back(cache.states().state(layer, which)->memory);
      recent.push_back(cache.states().state(layer, which)->recent);
    }
  }
  EXPECT_LE(relative_distance(at::stack(memory), golden_.load("text.states.memory")), 1e-4);
  EXPECT_LE(relative_distance(at::stack(recent), golden_.load("text.states.recent")), 1e-4);
}

TEST_P(Qwen35, APromptInPiecesLeavesTheSameState) {
  constexpr double kRounding = 2e-5;  // products of few rows add in another order than those of many
  const at::Tensor ids = golden_.load("text.input_ids");
  KvCache whole = empty();
  const at::Tensor logits = last_logits(read(ids, whole));
  KvCache pieces = empty();
  read(ids.slice(0, 0, 7), pieces);
  step(ids[7].item<std::int64_t>(), pieces);
  EXPECT_LE(relative_distance(last_logits(read(ids.slice(0, 8), pieces)), logits), kRounding);
  for (LayerId layer{0}; layer < text().layers(); ++layer) {
    for (std::int64_t which = 0; which < whole.states().of_layer(layer); ++which) {
      EXPECT_LE(relative_distance(pieces.states().state(layer, which)->memory, whole.states().state(layer, which)->memory), kRounding);
    }
  }
}

TEST_P(Qwen35, AForkGoesOnWithoutItsOrigin) {
  const at::Tensor ids = golden_.load("text.input_ids");
  KvCache cache = empty();
  read(ids, cache);
  KvCache fork = cache.fork();
  const at::Tensor once = step(5, fork);
  step(9, fork);
  EXPECT_TRUE(at::equal(step(5, cache), once)) << "the origin read what its fork was told";
}

TEST_P(Qwen35, ALayerThatIsRestoredIsReadAgain) {
  const at::Tensor ids = golden_.load("text.input_ids");
  KvCache cache = empty();
  read(ids.slice(0, 0, 9), cache);
  const KvCache before = cache.fork();
  const at::Tensor once = read(ids.slice(0, 9), cache);
  for (LayerId layer{0}; layer < text().layers(); ++layer) WholeLayer::restore(cache, layer, before);
  EXPECT_TRUE(at::equal(read(ids.slice(0, 9), cache), once));
}

INSTANTIATE_TEST_SUITE_P(Folders, Qwen35, ::testing::ValuesIn(kFolders), testing::folder_info_name);

TEST(Qwen35Shape, SaysWhichLayersKeepStates) {
  const c10::InferenceMode inference;
  const auto published = load_golden_model("qwen3_5/published");
  const KvShape shape = published->text().kv_shape();
  EXPECT_EQ(shape.layers, 3);
  EXPECT_EQ(shape.states_with.values(), (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(shape.rotary.rotated, 8);
  EXPECT_EQ(published->info().state_layers, 3);
  EXPECT_EQ(published->info().state_bytes, 3 * (4 * 8 * 12 + 3 * (2 * 16 + 48)) * 4);
  const auto saved = load_golden_model("qwen3_5/saved");
  EXPECT_EQ(saved->text().kv_shape().states_with.values(), (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(saved->info().state_bytes, 3 * (3 * 8 * 8 + 2 * (3 * 24)) * 4);
}

}  // namespace
}  // namespace winnow::test_support::qwen3_5_test
