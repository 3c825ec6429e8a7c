// What only Idefics3 and SmolVLM have; what all families promise is in vision_families_test.cpp. Golden folders: tests/golden/smolvlm,
// rebuilt by tests/golden/make/make_smolvlm_golden.py.
#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "engine/models/families/smolvlm_pixels.h"
#include "tests/engine/models/golden_model.h"
#include "tests/engine/models/llava_parts/golden_pictures.h"
#include "tests/support/golden_cases.h"
#include "tests/support/pixel_hash.h"

namespace winnow::test_support::smolvlm_test {
namespace {

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

TEST_F(SmolVlmModel, InfoIsComplete) {
  const auto model = load_golden_model("smolvlm/other_tile", at::kBFloat16);
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.dtype, "bf16");
  EXPECT_EQ(info.layers, 2);
  EXPECT_EQ(info.context_tokens, 4096);
  EXPECT_EQ(info.visual_tokens_per_frame, std::ssize(model->origins_of(video_of(1, 1))));
}

TEST_F(SmolVlmModel, TheJudgeSharesOutItsAttentionOverThePatchesOfATile) {
  const auto model = load_golden_model("smolvlm/smolvlm2_split");
  const GoldenTensors golden = golden_of("smolvlm/smolvlm2_split");
  const MediaFacts facts = image_facts(golden_pictures(golden, "image").front());
  const at::Tensor pixels = pixels_of(golden.load("image.pixel_levels.0"));
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
  const auto model = load_golden_model("smolvlm/smolvlm2_split");
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

// Pixels against transformers' processors, byte for byte; tests/golden/make/make_smolvlm_golden.py.
SmolVlmPixels unscaled(const std::string& what, int resample) {
  Json document = {{"size", {{"longest_edge", 768}}},
                   {"max_image_size", {{"longest_edge", 256}}},
                   {"resample", resample},
                   {"do_rescale", false},
                   {"do_normalize", false}};
  if (what == "fast") document["image_processor_type"] = "SmolVLMImageProcessorFast";
  const JsonObject object(document, "preprocessor_config.json");
  return what == "video" ? parse_smolvlm_video_processor(object) : parse_smolvlm_image_processor(object);
}

TEST(SmolVlmImageProcessor, BytesOfLargePicturesEqualTheReference) {
  const Json golden = load_json(source_folder() + "/tests/golden/smolvlm/sizes.json");
  ASSERT_GE(golden["hashes"].size(), 20U);
  for (const Json& row : golden["hashes"]) {
    SCOPED_TRACE(row.dump());
    const std::string what = row[0];
    const std::int64_t height = row[1], width = row[2];
    const RgbImage picture{static_cast<int>(width), static_cast<int>(height), test::golden_picture(height, width, row[3])};
    SmolVlmProcessorConfig config;
    config.image = config.video = unscaled(what, row[4]);
    const SmolVlmImageProcessor processor(config);
    const PixelValues pixels = what == "video" ? processor.frames(std::span(&picture, 1)) : processor.image(picture);
    EXPECT_EQ(pixels.source_height_px, height);
    EXPECT_EQ(test::pixel_hash(pixels.pixels), row[5].get<std::string>());
  }
}

}  // namespace
}  // namespace winnow::test_support::smolvlm_test
