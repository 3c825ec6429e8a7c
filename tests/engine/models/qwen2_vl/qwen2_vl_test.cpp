// What turns on golden folders do not show (engine_golden_test.cpp has those): positions by hand, the tower's judgement, grouping.
#include "engine/models/qwen2_vl/qwen2_vl.h"

#include <gtest/gtest.h>

#include "engine/models/known_family.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/memory_media.h"
#include "tests/support/tensor_distance.h"

namespace winnow::qwen2_vl_test {
namespace {

using test_support::relative_distance;
using testing::patterned_picture;

std::string folder_of(const std::string& name) { return source_folder() + "/tests/golden/" + name + "/model"; }

std::unique_ptr<VisionLanguageModel> load(const std::string& name, at::ScalarType dtype = at::kFloat) {
  ModelSource source;
  source.package = std::make_shared<HuggingFaceFolder>(folder_of(name));
  source.plan.arithmetic = dtype;
  return load_model(source);
}

std::vector<TokenOrigin> text(std::size_t tokens) { return std::vector<TokenOrigin>(tokens); }

std::vector<TokenOrigin> cells(std::int32_t medium, CellGrid grid, std::int64_t frames) {
  std::vector<TokenOrigin> origins = cell_origins(grid, frames, 2);
  for (TokenOrigin& origin : origins) origin.media = medium;
  return origins;
}

std::vector<TokenOrigin> joined(const std::vector<std::vector<TokenOrigin>>& parts) {
  std::vector<TokenOrigin> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

void expect_positions(const TokenPositions& placed, const std::vector<std::vector<std::int64_t>>& axes, std::int64_t next) {
  ASSERT_EQ(placed.positions.size(0), 3);
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const at::Tensor wanted = at::tensor(axes[static_cast<std::size_t>(axis)], at::kLong);
    EXPECT_TRUE(at::equal(placed.positions[axis], wanted)) << "axis " << axis << ": " << placed.positions[axis];
  }
  EXPECT_EQ(placed.next_position, next);
}

TEST(ThreeAxisPositions, AnImageOfTwoRowsAndThreeColumnsBetweenTexts) {
  const std::vector<TokenOrigin> origins = joined({text(2), cells(0, {2, 3}, 1), text(2)});
  expect_positions(three_axis_positions(origins, 10, {}, {}),
                   {{10, 11, 12, 12, 12, 12, 12, 12, 15, 16},   // time: the whole image at once
                    {10, 11, 12, 12, 12, 13, 13, 13, 15, 16},   // rows
                    {10, 11, 12, 13, 14, 12, 13, 14, 15, 16}},  // columns; the largest is 14
                   17);
}

// Words are text; the frames behind them begin a block of their own, in which times are counted from its first set.
TEST(ThreeAxisPositions, SubtitlesPartAVideoIntoBlocks) {
  const std::vector<TokenOrigin> said(2, {Modality::kSubtitle, 0, 0, -1, -1});
  const std::vector<TokenOrigin> sets = cells(0, {1, 2}, 6);
  const auto set = [&](std::ptrdiff_t i) { return std::vector<TokenOrigin>(sets.begin() + 2 * i, sets.begin() + 2 * i + 2); };
  const std::vector<TokenOrigin> origins = joined({text(1), set(0), said, set(1), set(2), text(1)});
  expect_positions(three_axis_positions(origins, 0, {}, {}),
                   {{0, 1, 1, 3, 4, 5, 5, 6, 6, 7}, {0, 1, 1, 3, 4, 5, 5, 5, 5, 7}, {0, 1, 2, 3, 4, 5, 6, 5, 6, 7}}, 8);
  // 2.5 s a set, whole seconds of them, at four positions each.
  const double frame_s[] = {1.25};
  expect_positions(three_axis_positions(origins, 0, frame_s, {2, 4}),
                   {{0, 1, 1, 3, 4, 5, 5, 13, 13, 14}, {0, 1, 1, 3, 4, 5, 5, 5, 5, 14}, {0, 1, 2, 3, 4, 5, 6, 5, 6, 14}}, 15);
  // Another text, or another medium's words, part nothing: a stretch of frames that is read again stands where its times are.
  const std::vector<TokenOrigin> again = joined({text(1), set(1)});
  expect_positions(three_axis_positions(again, 0, {}, {}), {{0, 2, 2}, {0, 1, 1}, {0, 1, 2}}, 3);
}

TEST(ThreeAxisPositions, ASetOfFramesTakesOnePositionWhereSecondsAreNotTold) {
  const std::vector<TokenOrigin> origins = joined({cells(0, {1, 1}, 5), text(1), cells(1, {1, 1}, 2)});
  const double frame_s[] = {3.0, 3.0};
  expect_positions(three_axis_positions(origins, 0, frame_s, {}), {{0, 1, 2, 3, 4}, {0, 0, 0, 3, 4}, {0, 0, 0, 3, 4}}, 5);
}

TEST(ThreeAxisPositions, SecondsAreCutToWholeOnesForASet) {
  const std::vector<TokenOrigin> origins = joined({cells(0, {1, 1}, 4), cells(1, {1, 1}, 4), cells(2, {1, 1}, 4)});
  // Two frames together: 2.5 s are two of them, at 4 positions each; 0.98 s are none; 1 s is one.
  const double frame_s[] = {1.25, 0.49, 0.5};
  expect_positions(three_axis_positions(origins, 0, frame_s, {2, 4}), {{0, 8, 9, 9, 10, 14}, {0, 0, 9, 9, 10, 10}, {0, 0, 9, 9, 10, 10}},
                   15);
}

TEST(ThreeAxisPositions, FramesOfAStreamShareTheirPlaces) {
  const std::vector<TokenOrigin> origins = cells(0, {1, 2}, 8);
  StreamPositions stream{100, 1, 1.0};
  expect_positions(
      three_axis_stream_positions(origins, stream, {2, 3}),
      {{100, 100, 106, 106, 112, 112, 118, 118}, {100, 100, 100, 100, 100, 100, 100, 100}, {100, 101, 100, 101, 100, 101, 100, 101}}, 119);
  stream.frames_per_position = 2;
  expect_positions(
      three_axis_stream_positions(origins, stream, {2, 3}),
      {{100, 100, 100, 100, 106, 106, 106, 106}, {100, 100, 100, 100, 100, 100, 100, 100}, {100, 101, 100, 101, 100, 101, 100, 101}}, 107);
}

class Qwen2VlFolders : public ::testing::TestWithParam<const char*> {
 protected:
  c10::InferenceMode inference_;
};

// Frames of a video that are prepared together and those that are not: the same tokens, and the judge's attention is handed out once.
TEST_P(Qwen2VlFolders, FramesCanBeEncodedInAnyGrouping) {
  const auto model = load(GetParam());
  const std::int64_t joined_frames = model->info().traits.joined_frames;
  std::vector<RgbImage> pictures;
  for (int i = 0; i < 4 * static_cast<int>(joined_frames); ++i) pictures.push_back(patterned_picture(61, 47, i));
  const MediaFacts facts{MediaKind::kVideo, {61, 47}, std::ssize(pictures), 0.0, true};
  const EncodedParts all = model->encode(facts, model->preprocess(facts, pictures), VisionJudge::kAttention, {});
  const std::int64_t cells = all.features.size(1);
  ASSERT_EQ(all.features.size(0), 4);
  for (std::int64_t set = 0; set < 4; ++set) {
    const auto own = std::span(pictures).subspan(static_cast<std::size_t>(set * joined_frames), static_cast<std::size_t>(joined_frames));
    const EncodedParts alone = model->encode(facts, model->preprocess(facts, own), VisionJudge::kRollout, {});
    EXPECT_LE(relative_distance(alone.features[0], all.features[set]), 1e-5);
    EXPECT_GT(alone.importance.min().item<float>(), 0.0F);
  }
  // A patch's share of the attention that all of them hand out, in cells: they are one together.
  const std::int64_t patches = model->preprocess(facts, pictures).pixels.size(0) / (4 * cells);
  EXPECT_LE((all.importance.sum(1) * patches - 1.0).abs().max().item<double>(), 1e-5);
  const MediaFeatures video = model->join(facts, all);
  EXPECT_EQ(video.features.size(0), 4 * cells);
  EXPECT_EQ(video.importance.size(0), 4 * cells);
  EXPECT_EQ(video.origins.back().frame, 3 * joined_frames);
}

TEST_P(Qwen2VlFolders, BrainFloatIsCloseToFp32) {
  const std::vector<RgbImage> picture = {patterned_picture(61, 47, 3)};
  const MediaFacts facts{MediaKind::kImage, {61, 47}, 1, 0.0, true};
  const auto features = [&](at::ScalarType dtype) {
    const auto model = load(GetParam(), dtype);
    return model->encode(facts, model->preprocess(facts, picture), {}, {}).features;
  };
  const at::Tensor rounded = features(at::kBFloat16);
  ASSERT_EQ(rounded.scalar_type(), at::kBFloat16);
  // 8 bits of mantissa through up to three layers with unit-scale activations.
  EXPECT_LE(relative_distance(rounded, features(at::kFloat)), 0.05);
}

TEST_P(Qwen2VlFolders, FoldersWithoutATemplateGetThePublishedOne) {
  EXPECT_EQ(HuggingFaceFolder(folder_of(GetParam())).chat_template("").source, load(GetParam())->chat_template());
}

TEST_P(Qwen2VlFolders, IsKnownByItsConfigurationAlone) {
  const std::string name = GetParam();
  const std::optional<KnownFamily> family = known_family(HuggingFaceFolder(folder_of(name)).required(ModelPart::kConfig).root());
  ASSERT_TRUE(family);
  EXPECT_EQ(family->model_type, name.substr(0, name.find('/')));
  EXPECT_TRUE(family->sees);
}

TEST_P(Qwen2VlFolders, TheTowerObeysAnInterrupt) {
  const auto model = load(GetParam());
  const std::vector<RgbImage> picture = {patterned_picture(40, 40, 1)};
  const MediaFacts facts{MediaKind::kImage, {40, 40}, 1, 0.0, true};
  const PixelValues pixels = model->preprocess(facts, picture);
  InterruptSource source;
  source.request_cancel();
  EXPECT_THROW(model->encode(facts, pixels, {}, source.token()), Interrupted);
}

INSTANTIATE_TEST_SUITE_P(Folders, Qwen2VlFolders,
                         ::testing::Values("qwen2_vl/published", "qwen2_vl/joined_three", "qwen2_5_vl/published", "qwen2_5_vl/saved"),
                         testing::folder_info_name);

}  // namespace
}  // namespace winnow::qwen2_vl_test
