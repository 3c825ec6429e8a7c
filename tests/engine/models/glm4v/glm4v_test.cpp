// What only GLM-4V has; what all families promise is in vision_families_test.cpp. Golden folders: tests/golden/glm4v, rebuilt by
// tests/golden/make/make_glm4v_golden.py.

#include <gtest/gtest.h>

#include <vector>

#include "tests/engine/models/folder_copy.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/memory_media.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support::glm4v_test {
namespace {

using testing::patterned_picture;

class Glm4vModel : public ::testing::Test {
 protected:
  static MediaFacts image_of(int width_px, int height_px) { return {MediaKind::kImage, {width_px, height_px}, 1, 0.0, true}; }

  c10::InferenceMode inference_;
};

TEST_F(Glm4vModel, InfoIsComplete) {
  const auto model = load_golden_model("glm4v/thinking", at::kBFloat16);
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.layers, 3);
  EXPECT_TRUE(info.traits.reads_videos);
  EXPECT_EQ(info.traits.joined_frames, 2);
}

// Of layers behind the last one, which guess several tokens, nothing is read.
TEST_F(Glm4vModel, ExpertsAreCountedAndLayersBehindTheLastAreNot) {
  const std::int64_t attention = (96 + 32 + 32) * (32 + 1) + 96 * 32;
  const std::int64_t norms = 2 * 32;
  const std::int64_t experts = 8 * (32 + 1) + (8 + 1) * 3 * 32 * 12;  // a router with its biases; a token's own and the one of all
  const auto whole = load_golden_model("glm4v_moe/published");
  EXPECT_EQ(whole->info().family, "glm4v_moe");
  EXPECT_EQ(whole->info().head_dim, 16);
  const test_support::FolderCopy copy("glm4v_moe/published");
  Json config = load_json(golden_folder("glm4v_moe/published") + "/model/config.json");
  config["text_config"]["num_hidden_layers"] = 2;
  copy.write("config.json", config.dump());
  EXPECT_EQ(whole->info().parameter_count - load_model(copy.source())->info().parameter_count, attention + norms + experts);
}

TEST_F(Glm4vModel, AVideosSetsHaveTheImagesTokenAndTheirTimeBehindThem) {
  const auto model = load_golden_model("glm4v/flash");
  MediaFacts facts{MediaKind::kVideo, {34, 24}, 3, 3.0, true};
  facts.times_s = {0.5, 1.5, 2.5};
  const std::vector<RgbImage> pictures = {patterned_picture(34, 24, 1), patterned_picture(34, 24, 2), patterned_picture(34, 24, 3)};
  const MediaFeatures video = model->join(facts, model->encode(facts, model->preprocess(facts, pictures), {}, {}));
  std::size_t cells = 0;
  std::size_t words = 0;
  for (std::size_t token = 0; token < video.ids.size(); ++token) {
    const bool cell = video.origins[token].row >= 0;
    EXPECT_EQ(video.ids[token] == model->prompt().image_token_id, cell) << token;
    (cell ? cells : words) += 1;
  }
  EXPECT_EQ(cells % 2, 0U) << "two sets";
  EXPECT_GT(words, 4U) << "two marks and a time each";
  EXPECT_EQ(model->text_around(VideoTimes{3.0, 3, facts.times_s}).before, "");
  EXPECT_EQ(model->prompt().video_texts.front(), "<|video|>");
}

TEST_F(Glm4vModel, TheJudgeSharesOutWhatPatchesLookAt) {
  const auto model = load_golden_model("glm4v/flash");
  const MediaFacts facts = image_of(45, 31);
  const std::vector<RgbImage> picture = {patterned_picture(45, 31, 3)};
  for (const VisionJudge judge : {VisionJudge::kAttention, VisionJudge::kRollout}) {
    const EncodedParts parts = model->encode(facts, model->preprocess(facts, picture), judge, {});
    ASSERT_EQ(parts.importance.size(1), parts.features.size(1));
    EXPECT_NEAR(parts.importance.sum().item<double>(), 1.0 / 9.0, 1e-5) << "the mean of nine patches each";
  }
}

}  // namespace
}  // namespace winnow::test_support::glm4v_test
