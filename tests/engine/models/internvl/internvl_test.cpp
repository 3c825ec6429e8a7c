// What only InternVL has; what all families promise is in vision_families_test.cpp. Golden folders: tests/golden/internvl, rebuilt by
// tests/golden/make/make_internvl_golden.py.

#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "engine/models/vision/picture_preparation.h"
#include "engine/models/vision/tile_choice.h"
#include "tests/engine/models/golden_model.h"
#include "tests/engine/models/llava_parts/golden_pictures.h"
#include "tests/support/golden_cases.h"
#include "tests/support/pixel_hash.h"

namespace winnow::test_support::internvl_test {
namespace {

MediaFacts video_of(std::int64_t frames, std::int64_t before = 0) {
  MediaFacts facts{MediaKind::kVideo, {34, 24}, frames, static_cast<double>(frames), true};
  facts.frames_before = before;
  return facts;
}

class InternVlModel : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

TEST_F(InternVlModel, InfoIsComplete) {
  const auto model = load_golden_model("internvl/chat_internlm2", at::kBFloat16);
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.layers, 2);
  EXPECT_EQ(info.context_tokens, 2048);
  EXPECT_EQ(info.visual_tokens_per_frame, std::ssize(model->origins_of(video_of(1, 1))));
}

TEST_F(InternVlModel, TheJudgeSharesOutWhatTheClassTokenLooksAt) {
  const auto model = load_golden_model("internvl/qwen2_saved");
  const GoldenTensors golden = golden_of("internvl/qwen2_saved");
  const MediaFacts facts = image_facts(golden_pictures(golden, "image").front());
  const EncodedParts parts = model->encode(facts, {pixels_of(golden, "image.pixel_levels.0"), 0, 0}, VisionJudge::kAttention, {});
  ASSERT_EQ(parts.importance.sizes(), at::IntArrayRef({7, 4})) << "three by two tiles and the thumbnail, 2 x 2 tokens each";
  const at::Tensor shares = parts.importance.sum(1);
  EXPECT_LT(shares.max().item<double>(), 1.0) << "the class token looks at itself, too";
  EXPECT_GT(shares.min().item<double>(), 0.2);
  const MediaFeatures media = model->join(facts, parts);
  EXPECT_EQ(media.importance[0].item<float>(), 0.0F) << "<img>";
}

// Read clip by clip, frames stand one after the other, with room for numbers of four digits.
TEST_F(InternVlModel, FramesOfASourceStandOneAfterTheOther) {
  const auto model = load_golden_model("internvl/qwen2_saved");
  std::vector<TokenOrigin> origins = model->origins_of(video_of(3));
  std::vector<TokenOrigin> later = model->origins_of(video_of(2, 3));
  for (TokenOrigin& origin : later) origin.frame += 3;
  origins.insert(origins.end(), later.begin(), later.end());
  const at::Tensor placed = model->positions_of_stream(origins, {100, 1}).positions[0];
  EXPECT_GT((placed.slice(0, 1) - placed.slice(0, 0, -1)).min().item<std::int64_t>(), 0);
  EXPECT_EQ(placed[0].item<std::int64_t>(), 100) << "its number is the prompt's text";
  const TokenPositions shared = model->positions_of_stream(origins, {100, 2});
  EXPECT_LT(shared.next_position, placed[-1].item<std::int64_t>());
}

TEST(InternVlPictures, BytesOfLargePicturesEqualTheReference) {
  const Json golden = load_json(source_folder() + "/tests/golden/internvl/sizes.json");
  ASSERT_GE(golden["hashes"].size(), 17U);
  for (const Json& row : golden["hashes"]) {
    SCOPED_TRACE(row.dump());
    const std::string what = row[0];
    const std::int64_t height = row[1], width = row[2];
    const RgbImage picture{static_cast<int>(width), static_cast<int>(height), test::golden_picture(height, width, row[3])};
    PictureRules rules;
    rules.size = {112, 112};
    rules.filter = static_cast<ResampleFilter>(row[4].get<int>());
    rules.scaling.rescale = rules.scaling.normalize = false;
    if (what == "original") rules.arithmetic = ResizeArithmetic::kPillow;
    const TileCount tiles = what == "video" ? TileCount{} : closest_tiles({height, width}, {112, 1, 12, true});
    const PixelValues pixels = tiles.tiles() == 1 ? whole_pictures(std::span(&picture, 1), rules)
                                                  : stretched_tiles(picture, rules, {tiles.rows, tiles.columns, true});
    EXPECT_EQ(test::pixel_hash(pixels.pixels), row[5].get<std::string>());
  }
}

}  // namespace
}  // namespace winnow::test_support::internvl_test
