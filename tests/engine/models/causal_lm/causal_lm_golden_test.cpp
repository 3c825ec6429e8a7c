// Text-only language models against transformers: logits of a prompt, and 64 greedy tokens, of every decoder and way of scaling
// positions (tests/golden/make/make_text_model_golden.py), and those with layers that keep states (make_recurrent_text_golden.py).
#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"
#include "engine/layers/rotary.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/registry.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/expect_error.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/golden_cases.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/saved_again.h"
#include "tests/support/source_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::causal_lm_test {
namespace {

constexpr double kLogitsTolerance = 1e-5;
constexpr double kStatesTolerance = 4e-5;  // states carry small differences on: transformers in fp32 and in fp64 are up to 5e-6 apart
constexpr double kClose = 1e-3;            // two tokens whose logits are nearer than this may change places

std::string folder_of(const std::string& name) {
  return source_folder() + "/tests/golden/" + (name.find('/') == std::string::npos ? "text_models/" : "") + name;
}

class TextModels : public ::testing::TestWithParam<const char*> {
 protected:
  TextModels() : golden_(folder_of(GetParam()) + "/golden.safetensors") {
    ModelSource source{.package = std::make_shared<HuggingFaceFolder>(folder_of(GetParam()))};
    model_ = load_model(source);
    if (model_->info().state_layers > 0) tolerance_ = kStatesTolerance;
  }

  // Logits of the last of `ids`, which begin at `first`.
  at::Tensor read(const at::Tensor& ids, std::int64_t first, KvCache& cache) const {
    const TextDecoder& text = model_->text();
    const at::Tensor hidden = test_support::prefill(text, text.embed(ids), first, cache);
    return text.logits(hidden.narrow(0, ids.size(0) - 1, 1)).select(0, 0);
  }

  void expect_greedy(at::Tensor logits, const at::Tensor& expected, std::int64_t position, KvCache& cache) const {
    for (std::int64_t i = 0; i < expected.size(0); ++i, ++position) {
      const auto [best, order] = logits.topk(2);
      const auto wanted = expected[i].item<std::int64_t>();
      if (order[0].item<std::int64_t>() != wanted) {
        ASSERT_LT((best[0] - logits[wanted]).item<double>(), kClose) << "token " << i;
        return;  // from here on the two write different texts
      }
      logits = model_->text().decode({wanted, position, static_cast<std::int32_t>(position)}, cache, nullptr);
    }
  }

  c10::InferenceMode inference_;
  test_support::GoldenTensors golden_;
  std::unique_ptr<VisionLanguageModel> model_;
  double tolerance_ = kLogitsTolerance;
};

TEST_P(TextModels, LogitsAreThoseOfTransformers) {
  const TextDecoder& text = model_->text();
  const at::Tensor ids = golden_.load("ids");
  KvCache cache(text.kv_shape());
  const at::Tensor logits = text.logits(test_support::prefill(text, text.embed(ids), 0, cache));
  const at::Tensor expected = golden_.load("logits");
  EXPECT_LE(test_support::relative_distance(test_support::kept_columns(logits, expected), expected), tolerance_);
}

TEST_P(TextModels, GreedyTokensAreThoseOfTransformers) {
  const at::Tensor ids = golden_.load("ids");
  KvCache cache(model_->text().kv_shape());
  expect_greedy(read(ids, 0, cache), golden_.load("greedy"), ids.size(0), cache);
}

// The answer's tokens stand in the cache as they were written, one at a time.
TEST_P(TextModels, ASecondQuestionIsAnsweredAsTransformersDoesIt) {
  const at::Tensor ids = golden_.load("ids");
  const at::Tensor answer = golden_.load("second_answer");
  const at::Tensor later = golden_.load("second_ids");
  KvCache cache(model_->text().kv_shape());
  read(ids, 0, cache);
  std::int64_t position = ids.size(0);
  for (std::int64_t i = 0; i < answer.size(0); ++i, ++position)
    model_->text().decode({answer[i].item<std::int64_t>(), position, static_cast<std::int32_t>(position)}, cache, nullptr);
  const at::Tensor logits = read(later, position, cache);
  EXPECT_LE(test_support::relative_distance(logits, golden_.load("second_logits")), tolerance_);
  expect_greedy(logits, golden_.load("second_greedy"), position + later.size(0), cache);
}

// As a chat of several turns reads it, some of them a token at a time.
TEST_P(TextModels, LogitsAreTheSameInParts) {
  const TextDecoder& text = model_->text();
  const at::Tensor ids = golden_.load("ids");
  const at::Tensor expected = golden_.load("logits");
  KvCache cache(text.kv_shape());
  std::int64_t first = 0;
  for (const std::int64_t rows : {17, 1, 1, 9, 2, static_cast<int>(ids.size(0)) - 31}) {
    const at::Tensor part = ids.narrow(0, first, rows);
    const at::Tensor logits = rows == 1 ? text.decode({part.item<std::int64_t>(), first, static_cast<std::int32_t>(first)}, cache, nullptr)
                                        : text.logits(test_support::prefill(text, text.embed(part), first, cache));
    const at::Tensor wanted = expected.narrow(0, first, rows);
    EXPECT_LE(test_support::relative_distance(test_support::kept_columns(logits.view({rows, -1}), wanted), wanted), tolerance_) << first;
    first += rows;
    for (LayerId layer{0}; layer < text.layers(); ++layer) {
      EXPECT_EQ(cache.slots(layer, KvHead(0)), cache.shape().held(layer, first)) << "layer " << layer << " after " << first;
    }
  }
}

TEST_P(TextModels, SaysThatItReadsTextOnly) {
  const ModelInfo& info = model_->info();
  EXPECT_FALSE(info.traits.sees);
  EXPECT_EQ(info.visual_tokens_per_frame, 0);
  EXPECT_GT(info.parameter_count, 0);
}

INSTANTIATE_TEST_SUITE_P(Folders, TextModels,
                         ::testing::Values("llama_tied", "llama_biased", "llama_dynamic", "llama_longrope", "mistral", "qwen2", "qwen3",
                                           "qwen3_moe", "mixtral", "falcon_7b", "falcon_40b", "falcon_11b", "falcon_sequential",
                                           "mistral_window", "qwen2_window", "gemma3", "gemma3_untied", "smollm3", "granite/text",
                                           "recurrent_text/qwen3_5", "recurrent_text/qwen3_5_moe", "recurrent_text/qwen3_next",
                                           "recurrent_text/gemma4", "recurrent_text/gemma4_borrowing", "recurrent_text/lfm2",
                                           "recurrent_text/lfm2_saved", "glm_text/glm4", "glm_text/glm4_moe"),
                         testing::folder_info_name);

// Saved by the newest transformers, each of these models computes what it did.
TEST(TextModelsSavedAgain, ComputeTheSame) {
  const c10::InferenceMode inference;
  for (const std::string& name : test_support::saved_again(test_support::SavedModels::kOfText)) {
    SCOPED_TRACE(name);
    const test::ScratchFolder folder;
    test_support::write_saved_again(name, folder);
    ModelSource source{.package = std::make_shared<HuggingFaceFolder>(folder.path())};
    const std::unique_ptr<VisionLanguageModel> again = load_model(source);
    source.package = std::make_shared<HuggingFaceFolder>(folder_of(name));
    const std::unique_ptr<VisionLanguageModel> before = load_model(source);
    EXPECT_EQ(again->info().context_tokens, before->info().context_tokens);
    const at::Tensor ids = test_support::GoldenTensors(folder_of(name) + "/golden.safetensors").load("ids");
    const auto logits = [&](const VisionLanguageModel& model) {
      KvCache cache(model.text().kv_shape());
      return model.text().logits(test_support::prefill(model.text(), model.text().embed(ids), 0, cache));
    };
    EXPECT_TRUE(at::equal(logits(*again), logits(*before)));
  }
}

// Two kinds of scaling depend on the length: what such a model reads ends where that begins.
TEST(TextModelLimits, AModelReadsAsFarAsItsPositionsHold) {
  const auto context_of = [](const char* name) {
    ModelSource source{.package = std::make_shared<HuggingFaceFolder>(folder_of(name))};
    return load_model(source)->info().context_tokens;
  };
  EXPECT_EQ(context_of("llama_tied"), 256);
  EXPECT_EQ(context_of("llama_dynamic"), 128);
  EXPECT_EQ(context_of("llama_longrope"), 128);
  EXPECT_EQ(context_of("mistral"), 512) << "beyond its window";
}

// Methods that move keys ask the cache by what they are rotated, once for all layers.
TEST(TextModelRotation, KeysOfWhichSomeDoNotRotateHaveNoRotationInCommon) {
  ModelSource source{.package = std::make_shared<HuggingFaceFolder>(folder_of("smollm3"))};
  const KvShape shape = load_model(source)->text().kv_shape();
  EXPECT_EQ(shape.rotary, RotaryScheme{});
  test::expect_error(ErrorCode::kIllegalRecipe, "no rotary position", [&] { require_turn(shape.rotary); });
}

}  // namespace
}  // namespace winnow::causal_lm_test
