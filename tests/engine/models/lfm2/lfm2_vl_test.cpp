// What only LFM2-VL has; what all families promise is in vision_families_test.cpp. Golden folders: tests/golden/lfm2_vl, rebuilt by
// tests/golden/make/make_lfm2_vl_golden.py.

#include <gtest/gtest.h>

#include "engine/model_files/family_templates.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/families/lfm2_vl_folder.h"
#include "engine/text/chat_template.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/golden_path.h"
#include "tests/support/memory_media.h"

namespace winnow::test_support::lfm2_vl_test {
namespace {

MediaFacts image_of(int width_px, int height_px) { return {MediaKind::kImage, {width_px, height_px}, 1, 0.0, true}; }

class Lfm2VlModel : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

TEST_F(Lfm2VlModel, InfoIsComplete) {
  const auto model = load_golden_model("lfm2_vl/published", at::kBFloat16);
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.layers, 2) << "those that attend";
  EXPECT_EQ(info.state_layers, 2);
  EXPECT_EQ(info.state_bytes, 2 * 2 * 32 * 2);
  EXPECT_FALSE(info.traits.reads_videos);
  EXPECT_EQ(info.picture_detail, (DetailChoices{DetailKind::kTiles, 16 + 2, 4 * 17 + 17 + 2, 9 * 17 + 17 + 2, 0}));
  EXPECT_EQ(model->text().kv_shape().states_with.values(), (std::vector<std::int64_t>{1, 1}));
}

// Cells of 8 px, tiles of 4 x 4 cells.
TEST_F(Lfm2VlModel, ALargePictureIsTilesWithNamesAndAThumbnail) {
  const auto model = load_golden_model("lfm2_vl/published");
  const std::vector<TokenOrigin> whole = model->origins_of(image_of(40, 24));
  ASSERT_EQ(whole.size(), 1U + 3 * 5 + 1);
  EXPECT_EQ(whole[0].row, -1);
  EXPECT_EQ(whole[1].row, 0);
  EXPECT_EQ(whole[15].column, 4);
  const std::vector<TokenOrigin> cut = model->origins_of(image_of(128, 64));
  ASSERT_EQ(cut.size(), 1U + 8 * (1 + 16) + 1 + 2 * 5 + 1) << "two rows of four tiles, and a thumbnail of two rows";
  const TokenOrigin& last_of_tiles = cut[8 * 17];
  EXPECT_EQ(last_of_tiles.frame, 8);
  EXPECT_EQ(last_of_tiles.row, 7);
  EXPECT_EQ(last_of_tiles.column, 15);
  EXPECT_EQ(cut[8 * 17 + 1].row, -1) << "the thumbnail's name";
  EXPECT_EQ(cut[8 * 17 + 2].frame, 0);
  EXPECT_EQ(cut.back().row, -1);
}

TEST_F(Lfm2VlModel, WithoutAThumbnailAPictureEndsBehindItsTiles) {
  const auto model = load_golden_model("lfm2_vl/saved");
  const std::vector<TokenOrigin> cut = model->origins_of(image_of(54, 36));
  ASSERT_EQ(cut.size(), 1U + 6 * (1 + 9) + 1) << "two rows of three tiles of 3 x 3 cells";
  EXPECT_EQ(cut.back().frame, 6);
}

TEST_F(Lfm2VlModel, TheJudgeSharesOutWhatPatchesLookAt) {
  const auto model = load_golden_model("lfm2_vl/published");
  const MediaFacts facts = image_of(128, 64);
  const std::vector<RgbImage> picture = {testing::patterned_picture(128, 64, 3)};
  for (const VisionJudge judge : {VisionJudge::kAttention, VisionJudge::kRollout}) {
    const EncodedParts parts = model->encode(facts, model->preprocess(facts, picture), judge, {});
    ASSERT_EQ(parts.importance.sizes(), at::IntArrayRef({1, 8 * 16 + 2 * 5}));
    EXPECT_NEAR(parts.importance.sum().item<double>(), 9.0, 1e-4) << "one of each tile and the thumbnail";
    EXPECT_EQ(model->join(facts, parts).importance[0].item<float>(), 0.0F) << "a mark";
  }
}

// For folders that have none.
TEST_F(Lfm2VlModel, TheTemplateSaysWhatThePublishedOneSays) {
  const TemplateText published = HuggingFaceFolder(test_support::golden_folder("lfm2_vl/published") + "/model").chat_template("");
  const auto text = [](const char* role, const char* words) -> TemplateMessage { return {role, {{TemplateContent::Kind::kText, words}}}; };
  TemplateMessage pictures = text("user", "What is in them?");
  pictures.content.insert(pictures.content.begin(), 2, {TemplateContent::Kind::kImage, ""});
  const std::vector<TemplateMessage> thread = {text("system", "Be brief."), pictures, text("assistant", "Squares."), text("user", "Why?")};
  const auto said = [&](std::string_view source) {
    std::string all;
    for (const TemplatePiece& piece :
         ChatTemplate(std::string(source), published.bos, published.eos).render(thread, {AddGenerationPrompt::kYes}))
      all += piece.text;
    return all;
  };
  EXPECT_NE(said(published.source).find("<image><image>What"), std::string::npos);
  EXPECT_EQ(said(family_template("lfm2_vl")), said(published.source));
}

}  // namespace
}  // namespace winnow::test_support::lfm2_vl_test
