// Against transformers in fp32: tests/golden/smolvlm, rebuilt by tests/golden/make/make_smolvlm_golden.py. Prompts, logits and answers are
// compared by engine_golden_test.cpp.
#include "engine/models/smolvlm/smolvlm.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "engine/base/json_document.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden_cases.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::smolvlm_test {
namespace {

using test_support::golden_pictures;
using test_support::GoldenTensors;
using test_support::kept_columns;
using test_support::relative_distance;

constexpr std::array kFolders = {"smolvlm2_split", "idefics3_plain", "other_tile", "saved_fast"};

std::unique_ptr<VisionLanguageModel> load(const std::string& name, at::ScalarType dtype = at::kFloat) {
  ModelSource source;
  source.package = std::make_shared<HuggingFaceFolder>(source_folder() + "/tests/golden/smolvlm/" + name + "/model");
  source.plan.arithmetic = dtype;
  return load_model(source);
}

GoldenTensors golden_of(const std::string& name) {
  return GoldenTensors(source_folder() + "/tests/golden/smolvlm/" + name + "/golden.safetensors");
}

MediaFacts facts_of(const RgbImage& picture) { return {MediaKind::kImage, {picture.width_px, picture.height_px}, 1, 0.0, true}; }

MediaFacts video_of(std::int64_t frames, std::int64_t before = 0) {
  MediaFacts facts{MediaKind::kVideo, {34, 24}, frames, static_cast<double>(frames), true};
  for (std::int64_t frame = 0; frame < frames; ++frame) facts.times_s.push_back(static_cast<double>(before + frame) + 0.5);
  facts.frames_before = before;
  return facts;
}

class SmolVlmModel : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

TEST_F(SmolVlmModel, PixelsAndFeaturesEqualTransformers) {
  for (const char* const name : kFolders) {
    const auto model = load(name);
    const GoldenTensors golden = golden_of(name);
    for (const std::string which : {"image", "two_images", "video"}) {
      SCOPED_TRACE(std::string(name) + "/" + which);
      const std::vector<RgbImage> pictures = golden_pictures(golden, which);
      std::vector<at::Tensor> features;
      const std::size_t media = which == "video" ? 1 : pictures.size();
      for (std::size_t medium = 0; medium < media; ++medium) {
        const MediaFacts facts = which == "video" ? video_of(std::ssize(pictures)) : facts_of(pictures[medium]);
        const auto of_medium = which == "video" ? std::span(pictures) : std::span(pictures).subspan(medium, 1);
        const PixelValues pixels = model->preprocess(facts, of_medium);
        const at::Tensor levels = golden.load(which + ".pixel_levels." + std::to_string(medium));
        ASSERT_EQ(pixels.pixels.sizes(), levels.sizes());
        EXPECT_LE((pixels.pixels - test_support::pixels_of(levels)).abs().max().item<double>(), 1e-6) << "every byte is the same";
        const MediaFeatures joined = model->join(facts, model->encode(facts, pixels, {}, {}));
        EXPECT_EQ(std::ssize(joined.ids), joined.features.size(0));
        EXPECT_EQ(joined.origins.size(), model->origins_of(facts).size());
        features.push_back(joined.features);
      }
      const at::Tensor expected = golden.load(which + ".features");
      EXPECT_LE(relative_distance(kept_columns(at::cat(features, 0), expected), expected), 1e-4);
    }
  }
}

TEST_F(SmolVlmModel, InfoIsComplete) {
  const auto model = load("other_tile", at::kBFloat16);
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.family, "idefics3");
  EXPECT_EQ(info.dtype, "bf16");
  EXPECT_EQ(info.layers, 2);
  EXPECT_EQ(info.heads, 6);
  EXPECT_EQ(info.kv_heads, 2);
  EXPECT_EQ(info.head_dim, 8);
  EXPECT_EQ(info.context_tokens, 4096);
  EXPECT_EQ(info.visual_tokens_per_frame, std::ssize(model->origins_of(video_of(1, 1))));
  // By hand. Tower: patches 16 x 27 + 16, a table of 7 x 7 though pictures have 5 x 5 patches, two layers, the last norm.
  const std::int64_t layer_of_tower = 4 * (16 * 16 + 16) + 2 * 32 + (16 * 32 + 32) + (32 * 16 + 16);
  const std::int64_t tower = 16 * 27 + 16 + 49 * 16 + 2 * layer_of_tower + 32;
  const std::int64_t connector = 36 * 16 * 25;
  const std::int64_t layer = (48 + 16 + 16) * 36 + 36 * 48 + 3 * 48 * 36 + 2 * 36;
  EXPECT_EQ(info.parameter_count, tower + connector + 2 * layer + 36 + 2 * model->text().vocabulary() * 36);
}

TEST_F(SmolVlmModel, TheJudgeSharesOutItsAttentionOverThePatchesOfATile) {
  const auto model = load("smolvlm2_split");
  const GoldenTensors golden = golden_of("smolvlm2_split");
  const MediaFacts facts = facts_of(golden_pictures(golden, "image").front());
  const at::Tensor pixels = test_support::pixels_of(golden.load("image.pixel_levels.0"));
  const EncodedParts parts = model->encode(facts, {pixels, 0, 0}, VisionJudge::kAttention, {});
  ASSERT_EQ(parts.importance.sizes(), at::IntArrayRef({13, 4})) << "four by three tiles and the whole picture, 2 x 2 tokens each";
  EXPECT_LE((parts.importance.sum(1) - 1.0).abs().max().item<double>(), 1e-5);
  const MediaFeatures media = model->join(facts, parts);
  for (std::size_t i = 0; i < media.origins.size(); ++i) {
    if (media.origins[i].row < 0) {
      EXPECT_EQ(media.importance[static_cast<std::int64_t>(i)].item<float>(), 0.0F) << i;
    }
  }
}

// Read clip by clip, frames stand where they would stand in one piece.
TEST_F(SmolVlmModel, FramesOfASourceStandOneAfterTheOther) {
  const auto model = load("smolvlm2_split");
  std::vector<TokenOrigin> origins = model->origins_of(video_of(3));
  std::vector<TokenOrigin> later = model->origins_of(video_of(2, 3));
  for (TokenOrigin& origin : later) origin.frame += 3;
  origins.insert(origins.end(), later.begin(), later.end());
  const TokenPositions placed = model->positions_of_stream(origins, {100, 1});
  EXPECT_TRUE(at::equal(placed.positions[0], at::arange(placed.positions[0][0].item<std::int64_t>(), placed.next_position)));
  const TokenPositions shared = model->positions_of_stream(origins, {100, 2});
  EXPECT_LT(shared.next_position, placed.next_position);
  EXPECT_EQ(shared.positions[0][0].item<std::int64_t>(), placed.positions[0][0].item<std::int64_t>());
}

TEST_F(SmolVlmModel, BrainFloatIsCloseToFp32) {
  for (const char* const name : kFolders) {
    SCOPED_TRACE(name);
    const auto model = load(name, at::kBFloat16);
    const GoldenTensors golden = golden_of(name);
    const MediaFacts facts = facts_of(golden_pictures(golden, "image").front());
    const at::Tensor pixels = test_support::pixels_of(golden.load("image.pixel_levels.0"));
    const MediaFeatures media = model->join(facts, model->encode(facts, {pixels, 0, 0}, {}, {}));
    ASSERT_EQ(media.features.scalar_type(), at::kBFloat16);
    const at::Tensor expected = golden.load("image.features");
    EXPECT_LE(relative_distance(kept_columns(media.features, expected), expected), 0.05);
  }
}

TEST_F(SmolVlmModel, ATokenizerWithAnotherImageTokenIsRefused) {
  const test::ScratchFolder folder;
  const std::string model = source_folder() + "/tests/golden/smolvlm/smolvlm2_split/model/";
  for (const char* const file : {"tokenizer.json", "preprocessor_config.json", "processor_config.json"})
    std::filesystem::copy(model + file, folder.file(file));
  Json config = load_json(model + "config.json");
  config["image_token_id"] = 5;
  folder.write("config.json", config.dump());
  ModelSource source;
  source.package = std::make_shared<HuggingFaceFolder>(folder.path());
  test::expect_error(ErrorCode::kDamagedFile, "image_token_id", [&] { load_model(source); });
}

}  // namespace
}  // namespace winnow::smolvlm_test
