// What only Mistral 3 has; what all families promise is in vision_families_test.cpp. Golden folders: tests/golden/mistral3, rebuilt by
// tests/golden/make/make_mistral3_golden.py.

#include <gtest/gtest.h>

#include "tests/engine/models/golden_model.h"
#include "tests/support/memory_media.h"

namespace winnow::test_support::mistral3_test {
namespace {

class Mistral3Model : public ::testing::Test {
 protected:
  static MediaFacts image_of(int width_px, int height_px) { return {MediaKind::kImage, {width_px, height_px}, 1, 0.0, true}; }

  c10::InferenceMode inference_;
};

TEST_F(Mistral3Model, InfoIsComplete) {
  const auto model = load_golden_model("mistral3/published", at::kBFloat16);
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.layers, 2);
  EXPECT_FALSE(info.traits.reads_videos);
}

// 28 px at most; cells of 4 px.
TEST_F(Mistral3Model, APictureIsRowsThatEnd) {
  const auto model = load_golden_model("mistral3/published");
  const std::vector<TokenOrigin> origins = model->origins_of(image_of(20, 9));
  ASSERT_EQ(origins.size(), 3U * (5 + 1));
  for (std::size_t token = 0; token < origins.size(); ++token) {
    const bool ends = token % 6 == 5;
    EXPECT_EQ(origins[token].row, ends ? -1 : static_cast<int>(token / 6));
    EXPECT_EQ(origins[token].column, ends ? -1 : static_cast<int>(token % 6));
    EXPECT_EQ(origins[token].frame, 0);
  }
  EXPECT_EQ(model->origins_of(image_of(56, 28)).size(), 4U * (7 + 1)) << "its longest edge is bounded";
}

TEST_F(Mistral3Model, TheJudgeSharesOutWhatPatchesLookAt) {
  const auto model = load_golden_model("mistral3/published");
  const MediaFacts facts = image_of(20, 9);
  const std::vector<RgbImage> picture = {testing::patterned_picture(20, 9, 3)};
  for (const VisionJudge judge : {VisionJudge::kAttention, VisionJudge::kRollout}) {
    const EncodedParts parts = model->encode(facts, model->preprocess(facts, picture), judge, {});
    ASSERT_EQ(parts.importance.sizes(), at::IntArrayRef({1, 15}));
    EXPECT_NEAR(parts.importance.sum().item<double>(), 0.25, 1e-5) << "the mean of four patches each";
    EXPECT_EQ(model->join(facts, parts).importance[5].item<float>(), 0.0F) << "the end of a row";
  }
}

}  // namespace
}  // namespace winnow::test_support::mistral3_test
