// What only MiniCPM-V has; what all families promise is in vision_families_test.cpp. Golden folders: tests/golden/minicpmv, rebuilt by
// tests/golden/make/make_minicpmv_golden.py.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/engine/models/folder_copy.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_media.h"
#include "tests/support/tensor_distance.h"

namespace winnow::minicpmv_test {
namespace {

using test_support::golden_folder;
using test_support::load_golden_model;
using test_support::relative_distance;
using testing::patterned_picture;

class MiniCpmVModel : public ::testing::Test {
 protected:
  static MediaFacts image_of(int width_px, int height_px, std::int64_t most_tokens = 0) {
    MediaFacts facts{MediaKind::kImage, {width_px, height_px}, 1, 0.0, true};
    facts.most_tokens = most_tokens;
    return facts;
  }
  static MediaFeatures features_of(const VisionLanguageModel& model, const MediaFacts& facts, const std::vector<RgbImage>& pictures) {
    return model.join(facts, model.encode(facts, model.preprocess(facts, pictures), {}, {}));
  }

  c10::InferenceMode inference_;
};

TEST_F(MiniCpmVModel, InfoIsComplete) {
  const auto model = load_golden_model("minicpmv/published", at::kBFloat16);
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.layers, 3) << "that attend";
  EXPECT_EQ(info.state_layers, 3);
  EXPECT_TRUE(info.traits.reads_videos);
  EXPECT_EQ(info.traits.position_axes, 1);
  EXPECT_EQ(info.traits.joined_frames, 1);
  EXPECT_EQ(info.picture_detail.kind, DetailKind::kTiles);
  EXPECT_EQ(info.picture_detail.low, 9 + 2) << "three cells a side and two marks";
  EXPECT_EQ(info.picture_detail.high, 37 * 11 + 5) << "36 slices in six rows, and the whole";
  EXPECT_EQ(info.frame_detail.medium, 5 * 11 + 1);
}

TEST_F(MiniCpmVModel, AnImagesNumberIsThatOfTheThread) {
  const auto model = load_golden_model("minicpmv/published");
  EXPECT_EQ(model->text_around(PictureSize{10, 10}, 0).before, "<image_id>0</image_id>");
  EXPECT_EQ(model->text_around(PictureSize{10, 10}, 7).before, "<image_id>7</image_id>");
  EXPECT_EQ(model->text_around(VideoTimes{3.0, 3, {0.0, 1.0, 2.0}}).before, "");
  EXPECT_EQ(load_golden_model("minicpmv/fine")->text_around(PictureSize{10, 10}, 7).before, "") << "where its files say so";
}

// Whole and slices go through the vision encoder by themselves, of an image as of a frame.
TEST_F(MiniCpmVModel, AFrameUnderADetailIsCutAsAnImage) {
  for (const char* folder : {"minicpmv/published", "minicpmv/fine"}) {
    const auto model = load_golden_model(folder);
    const std::vector<RgbImage> pictures = {patterned_picture(110, 60, 1), patterned_picture(110, 60, 2)};
    for (const std::int64_t most : {40, 70, 1000}) {
      MediaFacts video{MediaKind::kVideo, {110, 60}, 2, 2.0, true};
      video.times_s = {0.0, 1.0};
      video.most_tokens = most;
      const MediaFeatures frames = features_of(*model, video, pictures);
      const std::int64_t each = frames.features.size(0) / 2;
      EXPECT_LE(each, std::max<std::int64_t>(most, model->info().frame_detail.low + 10));
      for (std::int64_t frame = 0; frame < 2; ++frame) {
        const MediaFeatures image = features_of(*model, image_of(110, 60, most), {pictures[static_cast<std::size_t>(frame)]});
        ASSERT_EQ(image.features.size(0), each) << folder << " " << most;
        EXPECT_LE(relative_distance(frames.features.narrow(0, frame * each, each), image.features), 1e-5);
      }
    }
  }
}

TEST_F(MiniCpmVModel, AFrameIsWholeUnlessADetailIsAskedFor) {
  const auto model = load_golden_model("minicpmv/published");
  MediaFacts video{MediaKind::kVideo, {1920, 1080}, 1, 1.0, true};
  video.times_s = {0.0};
  const auto whole = std::ssize(model->origins_of(video));
  EXPECT_LE(whole, 14);
  EXPECT_GT(std::ssize(model->origins_of(image_of(1920, 1080))), 3 * whole);
}

TEST_F(MiniCpmVModel, TheJudgeSharesOutWhatPatchesLookAt) {
  const auto model = load_golden_model("minicpmv/published");
  const std::vector<RgbImage> picture = {patterned_picture(100, 100, 3)};
  const MediaFacts facts = image_of(100, 100);
  for (const VisionJudge judge : {VisionJudge::kAttention, VisionJudge::kRollout}) {
    const EncodedParts parts = model->encode(facts, model->preprocess(facts, picture), judge, {});
    ASSERT_EQ(parts.importance.size(1), parts.features.size(1));
    EXPECT_GT(parts.importance.min().item<double>(), 0.0);
    EXPECT_NEAR(parts.importance.sum().item<double>(), 5.0 / 4.0, 1e-5) << "the mean of four each, of the whole and of four slices";
  }
}

// As GGUF files whose tokens stand for 4 patches.
TEST_F(MiniCpmVModel, TheMergersWeightsAreMissedOnlyWhereATokenStandsForSixteenPatches) {
  const auto without_merger = [](const char* folder) {
    const test_support::FolderCopy copy(folder);
    copy.rewrite_weights(
        [](auto& tensors) { std::erase_if(tensors, [](const auto& each) { return each.first.find("vit_merger") != std::string::npos; }); });
    return load_model(copy.source());
  };
  test::expect_error(ErrorCode::kDamagedFile, "vit_merger", [&] { without_merger("minicpmv/published"); });
  const auto whole = load_golden_model("minicpmv/fine");
  const auto less = without_merger("minicpmv/fine");
  const std::vector<RgbImage> picture = {patterned_picture(100, 100, 3)};
  const at::Tensor same = features_of(*whole, image_of(100, 100), picture).features;
  EXPECT_TRUE(at::equal(features_of(*less, image_of(100, 100), picture).features, same));
  EXPECT_EQ(whole->info().picture_detail.low * 4 - 6, less->info().picture_detail.low) << "four times the cells, and two marks";
  const MediaFacts bounded = image_of(100, 100, whole->info().picture_detail.low);
  EXPECT_LT(features_of(*whole, bounded, picture).features.size(0), features_of(*less, bounded, picture).features.size(0));
}

// The merger is behind the last layer: there is no attention between what it made.
TEST_F(MiniCpmVModel, WithoutALayerBehindTheMergerAllCellsCountAlike) {
  const test_support::FolderCopy copy("minicpmv/published");
  Json config = load_json(golden_folder("minicpmv/published") + "/model/config.json");
  config["insert_layer_id"] = 2;
  copy.write("config.json", config.dump());
  const auto model = load_model(copy.source());
  const MediaFacts facts = image_of(40, 40);
  const EncodedParts parts =
      model->encode(facts, model->preprocess(facts, std::vector<RgbImage>{patterned_picture(40, 40, 3)}), VisionJudge::kRollout, {});
  EXPECT_NEAR((parts.importance - parts.importance[0][0]).abs().max().item<double>(), 0.0, 1e-7);
}

TEST_F(MiniCpmVModel, TheNextVersionHasThreeAxes) {
  const auto model = load_golden_model("minicpmv4_7/published");
  EXPECT_EQ(model->info().family, "minicpmv4_7");
  EXPECT_EQ(model->info().traits.position_axes, 3);
  EXPECT_EQ(model->text_around(PictureSize{10, 10}, 7).before, "<image_id>7</image_id>");
  EXPECT_EQ(model->text_around(VideoTimes{3.0, 3, {0.0, 1.0, 2.0}}).before, "");
}

}  // namespace
}  // namespace winnow::minicpmv_test
