
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/base/error.h"
#include "engine/base/json_document.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/golden_cases.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::llava_onevision_test {
namespace {

using test_support::GoldenTensors;
using test_support::load_golden_model;
using test_support::relative_distance;

class LlavaOnevisionModel : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

TEST_F(LlavaOnevisionModel, InfoIsComplete) {
  const auto model = load_golden_model("head_dim", at::kBFloat16);
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.name, "head_dim");
  EXPECT_EQ(info.device, "cpu");
  EXPECT_EQ(info.dtype, "bf16");
  EXPECT_EQ(info.layers, 2);
  EXPECT_EQ(info.context_tokens, 4096);
  EXPECT_EQ(info.visual_tokens_per_frame, 9);  // 5 x 5 patches pooled to 3 x 3
  EXPECT_EQ(info.kv_bytes_per_token, 2 * 2 * 2 * 16 * 2);
  EXPECT_EQ(info.weight_bytes, 2 * info.parameter_count);
}

TEST_F(LlavaOnevisionModel, APatchOfAVideoHandsOutAllOfItsAttention) {
  const auto model = load_golden_model("gqa_tied");
  const GoldenTensors golden(test_support::golden_folder("gqa_tied") + "/golden.safetensors");
  // 20 frames: more than one block of the tower.
  const at::Tensor pixels = test_support::pixels_of(golden.load("video.pixel_levels")).repeat({4, 1, 1, 1});
  const MediaFacts facts = test_support::video_facts(20);
  const EncodedParts all = model->encode(facts, {pixels, 0, 0}, VisionJudge::kAttention, {});
  ASSERT_EQ(all.importance.sizes(), at::IntArrayRef({20, 4}));
  // Sums to one over 16 patches; pooling averages fours of them.
  EXPECT_LE((all.importance.sum(1) - 1.0 / 4.0).abs().max().item<double>(), 1e-5);
  const MediaFeatures video = model->join(facts, all);
  EXPECT_EQ(video.origins[5].frame, 1);
  EXPECT_EQ(video.origins[5].row, 0);
  EXPECT_EQ(video.origins[5].column, 1);
  EXPECT_EQ(video.origins.back().row, -1);
}

TEST_F(LlavaOnevisionModel, FramesOfALlavaVideoJoinInAnyGrouping) {
  for (const char* const name : {"video_grid", "video_frame", "video_no_token"}) {
    SCOPED_TRACE(name);
    const auto model = load_golden_model(name);
    const GoldenTensors golden(test_support::golden_folder(name) + "/golden.safetensors");
    const at::Tensor pixels = test_support::pixels_of(golden.load("video.pixel_levels"));
    const auto of_frames = [&](std::int64_t first, std::int64_t count) {
      const MediaFacts facts = test_support::video_facts(count);
      return model->join(facts, model->encode(facts, {pixels.narrow(0, first, count), 0, 0}, VisionJudge::kAttention, {}));
    };
    const MediaFeatures all = of_frames(0, 3);
    const std::int64_t per_frame = all.features.size(0) / 3;
    ASSERT_EQ(all.importance.size(0), 3 * per_frame);
    for (std::int64_t token = 0; token < 3 * per_frame; ++token) {
      const TokenOrigin& origin = all.origins[static_cast<std::size_t>(token)];
      EXPECT_EQ(origin.frame, token / per_frame);
      EXPECT_EQ(all.importance[token].item<float>() == 0.0F, origin.row < 0) << token;
    }
    EXPECT_LE(relative_distance(of_frames(1, 1).features, all.features.narrow(0, per_frame, per_frame)), 1e-5);
  }
}

TEST_F(LlavaOnevisionModel, TellsTheTimesOfFramesWhereTheFileAsksForIt) {
  EXPECT_TRUE(load_golden_model("video_grid")->info().time_instruction.empty());
  const test::ScratchFolder folder;
  std::filesystem::copy(test_support::golden_folder("video_grid") + "/model", folder.path(), std::filesystem::copy_options::recursive);
  Json config = load_json(folder.path() + "/config.json");
  config["add_time_instruction"] = true;
  folder.write("config.json", config.dump());
  ModelSource source;
  source.package = std::make_shared<HuggingFaceFolder>(folder.path());
  EXPECT_EQ(load_model(source)->info().time_instruction, kLlavaVideoTimes);
  folder.write("winnow.json", R"({"time_instruction": "{frames} frames at {frame_times}"})");
  source.package = std::make_shared<HuggingFaceFolder>(folder.path());
  EXPECT_EQ(load_model(source)->info().time_instruction, "{frames} frames at {frame_times}") << "what the person wrote goes first";
}

TEST_F(LlavaOnevisionModel, AStrategyWithoutASquareGridRefusesTilesAndVideos) {
  const auto model = load_golden_model("select_default");
  try {
    model->encode(test_support::video_facts(1), {at::zeros({1, 3, 12, 12}), 0, 0}, {}, {});
    FAIL() << "pooled 8 patches";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kUnsupportedModel);
  }
  EXPECT_THROW(model->origins_of(test_support::image_facts(30, 30)), Exception);
  EXPECT_EQ(model->origins_of(test_support::image_facts(30, 30, false)).size(), 9U);  // 9 patches, the first dropped, a newline added
}

}  // namespace
}  // namespace winnow::llava_onevision_test
