// What tests/engine/generation/engine_golden_test.cpp, which compares whole turns with transformers, does not see of these models.

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support::llava_test {
namespace {

class LlavaModel : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

TEST_F(LlavaModel, SaysWhatItReads) {
  const auto plain = load_golden_model("llava/llava_llama");
  EXPECT_EQ(plain->info().family, "llava");
  EXPECT_FALSE(plain->info().traits.reads_videos);
  EXPECT_TRUE(plain->info().traits.sees);
  EXPECT_EQ(plain->info().visual_tokens_per_frame, 0);
  EXPECT_FALSE(plain->prompt().chat_template.empty());
  const auto next = load_golden_model("llava/next_mistral");
  EXPECT_EQ(next->info().family, "llava_next");
  EXPECT_FALSE(next->info().traits.reads_videos);
  EXPECT_EQ(next->info().kv_heads, 2);
  const auto video = load_golden_model("llava/next_video");
  EXPECT_EQ(video->info().family, "llava_next_video");
  EXPECT_TRUE(video->info().traits.reads_videos);
  EXPECT_EQ(video->info().visual_tokens_per_frame, 9);  // 6 x 6 patches pooled by 2
}

TEST_F(LlavaModel, TheClassTokenJudgesThePatchesAsInTransformers) {
  const auto model = load_golden_model("llava/llava_llama");
  const GoldenTensors golden(test_support::golden_folder("llava/llava_llama") + "/golden.safetensors");
  const at::Tensor mean = at::tensor({0.48145466, 0.4578275, 0.40821073}).view({3, 1, 1});
  const at::Tensor deviation = at::tensor({0.26862954, 0.26130258, 0.27577711}).view({3, 1, 1});
  const at::Tensor pixels = ((golden.load("image.pixel_levels").to(at::kDouble) / 255.0 - mean) / deviation).to(at::kFloat).select(0, 0);
  for (const auto& [judge, name] :
       {std::pair{VisionJudge::kAttention, "image.class_attention"}, {VisionJudge::kRollout, "image.class_rollout"}}) {
    const EncodedParts parts = model->encode(image_facts(31, 45), {pixels, 31, 45}, judge, {});
    ASSERT_EQ(parts.importance.sizes(), at::IntArrayRef({1, 16})) << "patches alone: the class token was dropped";
    EXPECT_LE(relative_distance(parts.importance, golden.load(name)), 1e-5) << name;
  }
}

TEST_F(LlavaModel, AClassTokenThatStaysIsNoPatch) {
  const auto model = load_golden_model("llava/llava_full");
  const std::vector<TokenOrigin> origins = model->origins_of(image_facts(30, 50));
  ASSERT_EQ(origins.size(), 26U);  // 5 x 5 patches of 22 px, a rest cut off
  EXPECT_EQ(origins[0].row, -1);
  EXPECT_EQ(origins[1].row, 0);
  EXPECT_EQ(origins[25].row, 4);
  EXPECT_EQ(origins[25].column, 4);
}

// 20 x 61 px go into 16 x 48: three tiles in a row, 4 x 12 cells. 20 / 61 * 48 is 15.7 of 16 px, 3.9 of 4 rows: nothing is cut off.
TEST_F(LlavaModel, EveryImageIsTiledHoweverManyThereAre) {
  const auto model = load_golden_model("llava/next_mistral");
  for (const bool only : {true, false}) {
    const std::vector<TokenOrigin> origins = model->origins_of(image_facts(20, 61, only));
    ASSERT_EQ(origins.size(), 16U + 4U * 13U);
    EXPECT_EQ(origins[16].frame, 1);
    EXPECT_EQ(origins[27].frame, 3);
    EXPECT_EQ(origins[27].column, 11);
    EXPECT_EQ(origins[28].row, -1) << "a newline";
  }
}

TEST_F(LlavaModel, NothingStandsBehindTheLastFrame) {
  const std::vector<TokenOrigin> origins = load_golden_model("llava/next_video_max")->origins_of(video_facts(10));
  ASSERT_EQ(origins.size(), 40U);
  EXPECT_EQ(origins.back().frame, 9);
  EXPECT_EQ(origins.back().row, 1);
}

}  // namespace
}  // namespace winnow::test_support::llava_test
