// What only MiniCPM-V has; what all families promise is in vision_families_test.cpp. Golden folders: tests/golden/minicpmv, rebuilt by
// tests/golden/make/make_minicpmv_golden.py.
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/models/families/canvas_positions.h"
#include "engine/models/families/minicpmv_folder.h"
#include "engine/text/tokenizer_file.h"
#include "tests/engine/models/folder_copy.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_media.h"
#include "tests/support/source_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support::minicpmv_test {
namespace {

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

// Positions of MiniCPM-V 4.7 against transformers' get_rope_index() (tests/golden/minicpmv4_7/canvases.json, rebuilt by
// tests/golden/make/make_minicpmv_golden.py).
constexpr std::int64_t kWord = 7;

std::string golden_file(const std::string& name) { return source_folder() + "/tests/golden/minicpmv4_7/" + name; }

class CanvasPositions : public ::testing::Test {
 protected:
  struct Prompt {
    std::vector<TokenOrigin> origins{};
    std::vector<std::int64_t> ids{};
    std::vector<double> frame_s{};
  };

  void SetUp() override {
    const auto tokenizer = Tokenizer::from(read_tokenizer_file(golden_file("published/model/tokenizer.json")));
    tokens_.emplace(*tokenizer,
                    MiniCpmVTokens::Ids{tokenizer->token_id("<|image_pad|>").value(), tokenizer->token_id("<|video_pad|>").value()}, "");
  }
  std::int64_t line() const { return tokens_->line().front(); }

  void write(Prompt& prompt, const std::string& letters) const {
    for (const char letter : letters) {
      prompt.origins.emplace_back();
      prompt.ids.push_back(letter == 'L' ? line() : kWord);
    }
  }
  // seconds: between frames; 0: an image.
  void attach(Prompt& prompt, const SlicedPicture& cut, std::int64_t frames, double seconds) const {
    MediumTokens medium = seconds > 0.0 ? tokens_->frames(cut, frames) : tokens_->image(cut);
    for (TokenOrigin& origin : medium.origins) origin.media = static_cast<std::int32_t>(prompt.frame_s.size());
    prompt.frame_s.push_back(seconds);
    prompt.origins.insert(prompt.origins.end(), medium.origins.begin(), medium.origins.end());
    prompt.ids.insert(prompt.ids.end(), medium.ids.begin(), medium.ids.end());
  }
  TokenPositions placed(const Prompt& prompt, std::int64_t next = 0) const {
    return canvas_positions({prompt.origins, next, prompt.frame_s, prompt.ids}, line());
  }

  std::optional<MiniCpmVTokens> tokens_;
};

CellGrid grid_of(const Json& medium, const char* key) {
  return medium.contains(key) ? CellGrid{medium[key][0].get<std::int64_t>(), medium[key][1].get<std::int64_t>()} : CellGrid{};
}

TEST_F(CanvasPositions, AreThoseOfTransformers) {
  const Json golden = load_json(golden_file("canvases.json"));
  ASSERT_GE(golden["rows"].size(), 60U);
  for (const Json& row : golden["rows"]) {
    SCOPED_TRACE(row["media"].dump() + row["parted"].dump() + row["after"].dump());
    Prompt prompt;
    write(prompt, std::string(row["before"].get<std::size_t>(), 'w'));
    for (const Json& medium : row["media"]) {
      if (!prompt.frame_s.empty()) write(prompt, row["parted"]);
      const CellGrid slices = grid_of(medium, "grid");
      attach(prompt, {grid_of(medium, "whole"), grid_of(medium, "slice"), slices.rows, slices.columns}, medium["frames"],
             medium["kind"] == "video" ? 0.5 : 0.0);
    }
    write(prompt, row["after"]);
    const TokenPositions ours = placed(prompt);
    std::vector<at::Tensor> axes;
    for (const Json& axis : row["positions"]) axes.push_back(at::tensor(axis.get<std::vector<std::int64_t>>(), at::kLong));
    EXPECT_TRUE(at::equal(ours.positions, at::stack(axes))) << ours.positions << at::stack(axes);
    EXPECT_EQ(ours.next_position, row["next"].get<std::int64_t>());
  }
}

// A question that is read behind media that were read before it.
TEST_F(CanvasPositions, AreTheSameInTwoParts) {
  for (const double seconds : {0.0, 0.5}) {
    for (const char* question : {"Lww", "ww", "L"}) {
      Prompt media;
      write(media, "www");
      attach(media, {{2, 3}, {2, 2}, 2, 3}, 2, seconds);
      Prompt whole = media;
      write(whole, question);
      Prompt after;
      write(after, question);
      const TokenPositions first = placed(media);
      TokensToPlace rest{after.origins, first.next_position, media.frame_s, after.ids, first.positions[0][-1].item<std::int64_t>()};
      const TokenPositions second = canvas_positions(rest, line());
      const TokenPositions together = placed(whole);
      EXPECT_TRUE(at::equal(at::cat({first.positions, second.positions}, 1), together.positions));
      EXPECT_EQ(second.next_position, together.next_position);
    }
  }
}

TEST_F(CanvasPositions, ALineThatIsNotRightBehindAPictureIsText) {
  Prompt prompt;
  write(prompt, "LwL");
  EXPECT_TRUE(at::equal(placed(prompt, 5).positions[1], at::tensor({5, 6, 7}, at::kLong)));
  prompt.ids.clear();
  EXPECT_EQ(placed(prompt, 5).next_position, 8) << "unknown ids are words";
}

// Tokens leave before the decoder; marks stay.
TEST_F(CanvasPositions, OfAPrunedPictureThoseLeftStayWhereTheyWere) {
  for (const bool cut : {false, true}) {
    Prompt whole;
    write(whole, "ww");
    attach(whole, cut ? SlicedPicture{{3, 3}, {3, 3}, 1, 1} : SlicedPicture{{3, 4}, {}, 0, 0}, 1, 0.0);
    const at::Tensor all = placed(whole).positions;
    Prompt left;
    std::vector<std::int64_t> kept;
    for (std::size_t token = 0; token < whole.origins.size(); ++token) {
      if (whole.origins[token].row == 1) continue;  // the last row stays, which says how far the canvas goes
      left.origins.push_back(whole.origins[token]);
      left.ids.push_back(whole.ids[token]);
      kept.push_back(static_cast<std::int64_t>(token));
    }
    left.frame_s = whole.frame_s;
    EXPECT_TRUE(at::equal(placed(left).positions, all.index_select(1, at::tensor(kept, at::kLong))));
  }
}

TEST_F(CanvasPositions, FramesOfAStreamLieWhereAVideosDo) {
  Prompt video;
  attach(video, {{2, 3}, {2, 2}, 1, 2}, 3, 0.5);
  const TokenPositions all = placed(video, 20);
  const TokenPositions stream = canvas_stream_positions(video.origins, {20, 1, 0.5});
  EXPECT_TRUE(at::equal(stream.positions, all.positions));
  EXPECT_EQ(stream.next_position, all.next_position);
  const auto each = static_cast<std::int64_t>(video.origins.size()) / 3;
  const std::span<const TokenOrigin> later = std::span<const TokenOrigin>(video.origins).subspan(static_cast<std::size_t>(each));
  EXPECT_TRUE(at::equal(canvas_stream_positions(later, {20, 1, 0.5}).positions, all.positions.narrow(1, each, 2 * each)));
  const at::Tensor shared = canvas_stream_positions(video.origins, {20, 2, 0.5}).positions;
  EXPECT_TRUE(at::equal(shared.narrow(1, 0, each), shared.narrow(1, each, each))) << "two frames share their positions";
  EXPECT_TRUE(at::equal(shared.narrow(1, 2 * each, each), all.positions.narrow(1, each, each)));
}

}  // namespace
}  // namespace winnow::test_support::minicpmv_test
