// A decode step that several conversations share: each has the bits of a step of its own, whatever its layers are and however its cache is
// stored, and every matrix is read once for all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/layers/row_elements.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/registry.h"
#include "engine/models/weights/block_packing.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/source_folder.h"
#include "tests/support/vision_folders.h"

namespace winnow {
namespace {

std::string folder_of(const std::string& name) {
  for (const char* const under : {"/tests/golden/", "/tests/golden/text_models/", "/tests/golden/llava_onevision/"}) {
    const std::string folder = source_folder() + under + name;
    if (std::filesystem::exists(folder + "/model/config.json")) return folder + "/model";
    if (std::filesystem::exists(folder + "/config.json")) return folder;
  }
  throw Exception(ErrorCode::kFileNotFound, name, "no such golden folder");
}

std::unique_ptr<VisionLanguageModel> model_of(const std::string& name, at::ScalarType dtype, std::shared_ptr<const MatrixPacking> packing) {
  ModelSource source{.package = std::make_shared<HuggingFaceFolder>(folder_of(name)),
                     .plan = {.arithmetic = dtype, .packing = std::move(packing)}};
  return load_model(source);
}

// Evicts a slot of one head after each layer, as decode-phase methods do, and keeps what it was shown.
class Evicting final : public DecodeObserver {
 public:
  explicit Evicting(KvCache& cache) : cache_(cache) {}
  bool wants_probabilities() const override { return true; }
  void after_layers(LayerId first, std::span<const DecodeRow> rows) override {
    for (LayerId layer = first; const DecodeRow& row : rows) {
      probabilities.push_back(row.probabilities);
      outputs.push_back(row.output.clone());
      cache_.evict(layer, KvHead(0), cache_.slots(layer, KvHead(0)) / 2);
      ++layer;
    }
  }
  std::vector<std::vector<std::vector<float>>> probabilities;
  std::vector<at::Tensor> outputs;

 private:
  KvCache& cache_;
};

struct Told {
  KvCache cache;
  std::int32_t tokens = 0;
  bool watched = false;
};

// Conversations of several lengths; some in eight bits, some with heads of unequal length, some with a policy.
std::vector<Told> conversations(const TextDecoder& text, int count) {
  at::manual_seed(31);
  std::vector<Told> all;
  for (int i = 0; i < count; ++i) {
    KvShape shape = text.kv_shape();
    if (i % 3 == 1) shape.storage = KvStorage::kInt8;
    const std::int32_t tokens = 5 + i * 29 % 140;
    all.push_back({KvCache(shape), tokens, i % 3 != 0});
    at::Tensor hidden = text.embed(at::randint(0, text.vocabulary(), {tokens}, at::kLong));
    const at::Tensor positions = at::arange(tokens, at::kLong).expand({shape.rotary.axes(), tokens});
    std::vector<std::int32_t> original(static_cast<std::size_t>(tokens));
    std::iota(original.begin(), original.end(), 0);
    for (LayerId layer{0}; layer < text.layers(); ++layer)
      text.prefill_layer(layer, hidden, positions, original, all.back().cache, nullptr, {}, {});
    for (LayerId layer{0}; i % 2 == 1 && layer < text.layers(); ++layer) all.back().cache.evict(layer, KvHead(0), 1);
  }
  return all;
}

void expect_same_slots(const KvCache& one, const KvCache& two) {
  for (LayerId layer{0}; layer < one.shape().layers; ++layer) {
    for (KvHead head{0}; head < one.shape().kv_heads; ++head) {
      ASSERT_TRUE(std::ranges::equal(one.original(layer, head), two.original(layer, head)));
      ASSERT_TRUE(at::equal(one.gather_keys(layer, head), two.gather_keys(layer, head))) << "layer " << layer;
      ASSERT_TRUE(at::equal(one.gather_values(layer, head), two.gather_values(layer, head))) << "layer " << layer;
    }
  }
  if (one.sliding() != nullptr) expect_same_slots(*one.sliding(), *two.sliding());
}

// Every step takes others together, in another order: conversations join and leave.
void expect_steps_as_alone(const TextDecoder& text, int count) {
  std::vector<Told> all = conversations(text, count);
  for (int step = 0; step < 3; ++step) {
    std::vector<StepRow> rows;
    std::vector<at::Tensor> expected;
    std::vector<KvCache> alone;
    std::vector<Told*> told;
    std::deque<Evicting> own;
    std::deque<Evicting> shared;
    for (int i = count - 1; i >= 0; --i) {
      Told& each = all[static_cast<std::size_t>(i)];
      if ((i + step) % 4 == 3) continue;
      const NextToken token{(7 * i + step + 11) % text.vocabulary(), each.tokens, each.tokens};
      alone.push_back(each.cache.fork());
      Evicting* const evicting = each.watched ? &own.emplace_back(alone.back()) : nullptr;
      expected.push_back(text.decode(token, alone.back(), evicting));
      rows.push_back({token, &each.cache, each.watched ? &shared.emplace_back(each.cache) : nullptr});
      told.push_back(&each);
    }
    const at::Tensor logits = text.decode_together(rows);
    ASSERT_EQ(logits.sizes(), (at::IntArrayRef{std::ssize(rows), text.vocabulary()}));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << "step " << step << ", row " << i << " of " << rows.size());
      EXPECT_FALSE(rows[i].failure);
      ASSERT_TRUE(at::equal(logits.select(0, static_cast<std::int64_t>(i)), expected[i]));
      expect_same_slots(*rows[i].cache, alone[i]);
      ++told[i]->tokens;
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(shared[i].probabilities, own[i].probabilities);
      ASSERT_EQ(shared[i].outputs.size(), own[i].outputs.size());
      for (std::size_t layer = 0; layer < own[i].outputs.size(); ++layer)
        EXPECT_TRUE(at::equal(shared[i].outputs[layer], own[i].outputs[layer]));
    }
  }
}

class DecodeTogether : public ::testing::TestWithParam<const char*> {
 protected:
  c10::InferenceMode inference_;
};

TEST_P(DecodeTogether, EveryRowIsAStepOfItsOwnToTheBit) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    for (const auto& packing : {std::shared_ptr<BlockPacking>(), std::make_shared<BlockPacking>(PackedBits::kFour)}) {
      SCOPED_TRACE(::testing::Message() << at::toString(dtype) << (packing ? " in four bits" : ""));
      expect_steps_as_alone(model_of(GetParam(), dtype, packing)->text(), 4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(VisionFolders, DecodeTogether, ::testing::ValuesIn(test_support::vision_folders()), testing::folder_info_name);
INSTANTIATE_TEST_SUITE_P(TextFolders, DecodeTogether,
                         ::testing::Values("llama_biased", "llama_longrope", "mistral", "qwen3_moe", "mixtral", "falcon_7b", "falcon_40b",
                                           "falcon_11b", "falcon_sequential", "qwen2_window", "gemma3", "smollm3", "granite/text",
                                           "recurrent_text/qwen3_5", "recurrent_text/qwen3_5_moe", "recurrent_text/qwen3_next",
                                           "recurrent_text/gemma4", "recurrent_text/gemma4_borrowing", "recurrent_text/lfm2",
                                           "glm_text/glm4", "glm_text/glm4_moe"),
                         testing::folder_info_name);

class SharedStep : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

// More than a product takes at once.
TEST_F(SharedStep, MoreRowsThanAreReadTogetherAreEachAsAlone) {
  expect_steps_as_alone(model_of("qwen2", at::kFloat, nullptr)->text(), 3 * static_cast<int>(kFewRows));
}

// Counts the products with each matrix.
class Counted final : public PackedMatrix {
 public:
  Counted(at::Tensor dense, std::map<const void*, std::vector<std::int64_t>>& rows) : dense_(std::move(dense)), rows_(rows) {}
  std::int64_t out() const override { return dense_.size(0); }
  std::int64_t in() const override { return dense_.size(1); }
  std::int64_t bytes() const override { return static_cast<std::int64_t>(dense_.nbytes()); }
  at::Tensor times(const at::Tensor& input) const override {
    rows_[this].push_back(input.numel() / in());
    return at::linear(input, dense_);
  }
  at::Tensor columns(std::int64_t first, std::int64_t count) const override { return dense_.narrow(1, first, count); }
  at::Tensor rows(const at::Tensor& ids) const override { return dense_.index_select(0, ids); }

 private:
  at::Tensor dense_;
  std::map<const void*, std::vector<std::int64_t>>& rows_;
};

class CountedPacking final : public MatrixPacking {
 public:
  std::string name() const override { return "counted"; }
  std::optional<double> most_bits(std::int64_t) const override { return 32.0; }
  std::shared_ptr<const PackedMatrix> pack(const at::Tensor& dense) const override {
    return std::make_shared<Counted>(dense.clone(), rows_of);
  }
  mutable std::map<const void*, std::vector<std::int64_t>> rows_of;  // of each matrix: the rows of every product
};

TEST_F(SharedStep, ReadsEveryMatrixOnce) {
  for (const char* const name :
       {"qwen2", "recurrent_text/qwen3_5", "recurrent_text/lfm2", "recurrent_text/gemma4_borrowing", "gemma4_large/dense"}) {
    SCOPED_TRACE(name);
    const auto packing = std::make_shared<CountedPacking>();
    const auto model = model_of(name, at::kFloat, packing);
    std::vector<Told> all = conversations(model->text(), 4);
    std::vector<StepRow> rows;
    for (Told& each : all) rows.push_back({{3, each.tokens, each.tokens}, &each.cache});
    packing->rows_of.clear();
    model->text().decode_together(rows);
    EXPECT_GT(packing->rows_of.size(), 6U);
    for (const auto& [matrix, products] : packing->rows_of) EXPECT_EQ(products, std::vector<std::int64_t>{4});
  }
}

class Failing final : public DecodeObserver {
 public:
  bool wants_probabilities() const override { return false; }
  void after_layers(LayerId layer, std::span<const DecodeRow>) override {
    ++calls;
    if (layer == 0) throw Exception(ErrorCode::kNumericFailure, "", "this one alone");
  }
  int calls = 0;
};

TEST_F(SharedStep, WhatOneRowMeetsEndsThatOneAlone) {
  const auto model = model_of("qwen2", at::kFloat, nullptr);
  std::vector<Told> all = conversations(model->text(), 3);
  std::vector<at::Tensor> expected;
  std::vector<StepRow> rows;
  Failing failing;
  for (Told& each : all) {
    KvCache alone = each.cache.fork();
    expected.push_back(model->text().decode({9, each.tokens, each.tokens}, alone, nullptr));
    rows.push_back({{9, each.tokens, each.tokens}, &each.cache});
  }
  rows[1].observer = &failing;
  const at::Tensor logits = model->text().decode_together(rows);
  EXPECT_TRUE(at::equal(logits[0], expected[0]));
  EXPECT_TRUE(at::equal(logits[2], expected[2]));
  EXPECT_FALSE(rows[0].failure || rows[2].failure);
  EXPECT_EQ(failing.calls, 1);
  try {
    std::rethrow_exception(rows[1].failure);
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().reason, "this one alone");
  }
}

TEST_F(SharedStep, WhatIsAskedForAloneIsThrown) {
  const auto model = model_of("qwen2", at::kFloat, nullptr);
  std::vector<Told> all = conversations(model->text(), 1);
  Failing failing;
  EXPECT_THROW(model->text().decode({9, 5, 5}, all.front().cache, &failing), Exception);
}

}  // namespace
}  // namespace winnow
