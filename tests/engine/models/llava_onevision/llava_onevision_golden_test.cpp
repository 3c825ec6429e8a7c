// Against transformers in fp32: tests/golden/llava_onevision, rebuilt by tests/golden/make/make_llava_onevision_golden.py.
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/golden_cases.h"
#include "tests/support/tensor_distance.h"

namespace winnow::llava_onevision_test {
namespace {

using test_support::GoldenTensors;
using test_support::kept_columns;
using test_support::relative_distance;

// fp32 sums in another order; see the manifest.
constexpr double kTolerance = 1e-4;
constexpr float kClearMargin = 1e-3F;
constexpr const char* kRebuild = "; rebuild with tests/golden/make/make_llava_onevision_golden.py";

struct GoldenCase {
  const char* model;
  const char* name;
};

class LlavaOnevisionGolden : public ::testing::TestWithParam<GoldenCase> {
 protected:
  void SetUp() override {
    model_ = test_support::load_golden_model(GetParam().model);
    golden_ = std::make_unique<GoldenTensors>(test_support::golden_folder(GetParam().model) + "/golden.safetensors");
  }
  at::Tensor load(const std::string& what) const { return golden_->load(std::string(GetParam().name) + "." + what); }
  bool has(const std::string& what) const { return golden_->has(std::string(GetParam().name) + "." + what); }

  c10::InferenceMode inference_;
  std::unique_ptr<VisionLanguageModel> model_;
  std::unique_ptr<GoldenTensors> golden_;
};

TEST_P(LlavaOnevisionGolden, FeaturesLogitsAndGreedyTokensEqualTransformers) {
  std::vector<TokenOrigin> origins;
  const at::Tensor features = test_support::encode_case(*model_, *golden_, GetParam().name, origins);
  ASSERT_EQ(features.defined(), has("features"));
  if (features.defined()) {
    const at::Tensor expected = load("features");
    EXPECT_LE(relative_distance(kept_columns(features, expected), expected), kTolerance) << "visual features" << kRebuild;
    ASSERT_EQ(static_cast<std::int64_t>(origins.size()), features.size(0));
    for (const TokenOrigin& origin : origins) ASSERT_EQ(origin.modality, Modality::kVisual);
  }

  const at::Tensor ids = load("input_ids");
  const TextDecoder& text = model_->text();
  KvCache cache(text.kv_shape());
  const at::Tensor hidden = test_support::prefill(text, test_support::embed_case(*model_, ids, features), 0, cache);
  if (has("all_logits")) {
    const at::Tensor expected = load("all_logits");
    EXPECT_LE(relative_distance(kept_columns(text.logits(hidden), expected), expected), kTolerance)
        << "logits of all positions" << kRebuild;
  }
  at::Tensor logits = text.logits(hidden.narrow(0, hidden.size(0) - 1, 1)).select(0, 0);
  EXPECT_LE(relative_distance(logits, load("logits")), kTolerance) << "logits" << kRebuild;

  const at::Tensor greedy = load("greedy");
  const at::Tensor margins = load("margins");
  std::int64_t compared = 0;
  for (std::int64_t step = 0; step < greedy.size(0); ++step) {
    const std::int64_t expected = greedy[step].item<std::int64_t>();
    const std::int64_t chosen = logits.argmax().item<std::int64_t>();
    if (chosen != expected) {
      EXPECT_LE(margins[step].item<float>(), kClearMargin) << "step " << step << kRebuild;
      break;  // a tie went the other way: the texts differ from here on
    }
    ++compared;
    const std::int64_t position = ids.size(0) + step;
    logits = text.decode({chosen, position, static_cast<std::int32_t>(position)}, cache, nullptr);
  }
  EXPECT_GE(compared, 32) << "too few steps were compared to mean anything" << kRebuild;
}

TEST_P(LlavaOnevisionGolden, PreprocessingGivesTheRecordedGrid) {
  if (std::string(GetParam().name) == "text") {
    EXPECT_FALSE(has("pixel_levels"));
    return;
  }
  const at::Tensor levels = load("pixel_levels");
  const std::vector<RgbImage> pictures = test_support::golden_pictures(*golden_, GetParam().name);
  const double rounding = 1e-6;  // bytes are equal; scaling divides in another order
  if (std::string(GetParam().name) == "video") {
    const PixelValues pixels = model_->preprocess(test_support::video_facts(std::ssize(pictures)), pictures);
    ASSERT_EQ(pixels.pixels.sizes(), levels.sizes());
    EXPECT_LE((pixels.pixels - test_support::pixels_of(levels)).abs().max().item<double>(), rounding);
    EXPECT_EQ(std::ssize(model_->origins_of(test_support::video_facts(levels.size(0)))), load("features").size(0));
    return;
  }
  const bool only = pictures.size() == 1;
  std::int64_t tokens = 0;
  for (std::size_t index = 0; index < pictures.size(); ++index) {
    const MediaFacts facts = test_support::image_facts(pictures[index].height_px, pictures[index].width_px, only);
    const PixelValues pixels = model_->preprocess(facts, std::span(pictures).subspan(index, 1));
    const at::Tensor expected = levels[static_cast<std::int64_t>(index)];
    ASSERT_EQ(pixels.pixels.size(0), only ? expected.size(0) : 1);
    const at::Tensor difference = pixels.pixels - test_support::pixels_of(expected.narrow(0, 0, pixels.pixels.size(0)));
    EXPECT_LE(difference.abs().max().item<double>(), rounding);
    tokens += std::ssize(model_->origins_of(facts));
  }
  EXPECT_EQ(tokens, load("features").size(0));
}

std::string case_name(const ::testing::TestParamInfo<GoldenCase>& info) { return std::string(info.param.model) + "_" + info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Folders, LlavaOnevisionGolden,
    ::testing::Values(GoldenCase{"gqa_tied", "text"}, GoldenCase{"gqa_tied", "image"}, GoldenCase{"gqa_tied", "two_images"},
                      GoldenCase{"gqa_tied", "video"}, GoldenCase{"mha_untied", "text"}, GoldenCase{"mha_untied", "image"},
                      GoldenCase{"mha_untied", "two_images"}, GoldenCase{"mha_untied", "video"}, GoldenCase{"no_bias_scaled", "text"},
                      GoldenCase{"no_bias_scaled", "image"}, GoldenCase{"no_bias_scaled", "two_images"},
                      GoldenCase{"no_bias_scaled", "video"}, GoldenCase{"head_dim", "text"}, GoldenCase{"head_dim", "image"},
                      GoldenCase{"head_dim", "two_images"}, GoldenCase{"head_dim", "video"}, GoldenCase{"select_default", "text"},
                      GoldenCase{"select_default", "two_images"}, GoldenCase{"plain_projector", "text"},
                      GoldenCase{"plain_projector", "image"}, GoldenCase{"plain_projector", "two_images"},
                      GoldenCase{"plain_projector", "video"}, GoldenCase{"video_grid", "video"}, GoldenCase{"video_frame", "video"},
                      GoldenCase{"video_no_token", "video"}),
    case_name);

}  // namespace
}  // namespace winnow::llava_onevision_test
