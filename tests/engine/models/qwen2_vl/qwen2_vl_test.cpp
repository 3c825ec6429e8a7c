// What only Qwen2-VL and Qwen2.5-VL have: positions by hand, the tower's judgement. What all families promise is in
// vision_families_test.cpp.

#include <gtest/gtest.h>

#include "engine/models/vision/patch_grid.h"
#include "engine/models/vision/time_positions.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/memory_media.h"

namespace winnow::testing::qwen2_vl_test {
namespace {

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

// A patch's share of the attention that all of them hand out, in cells: they are one together.
TEST(Qwen2VlJudge, HandsOutAttentionOnce) {
  c10::InferenceMode inference;
  for (const char* const folder : {"qwen2_vl/published", "qwen2_vl/joined_three", "qwen2_5_vl/published", "qwen2_5_vl/saved"}) {
    const auto model = test_support::load_golden_model(folder);
    std::vector<RgbImage> pictures;
    for (int i = 0; i < 4 * static_cast<int>(model->info().traits.joined_frames); ++i) pictures.push_back(patterned_picture(61, 47, i));
    const MediaFacts facts{MediaKind::kVideo, {61, 47}, std::ssize(pictures), 0.0, true};
    const PixelValues pixels = model->preprocess(facts, pictures);
    const EncodedParts all = model->encode(facts, pixels, VisionJudge::kAttention, {});
    const std::int64_t patches_of_cell = pixels.pixels.size(0) / (4 * all.features.size(1));
    EXPECT_LE((all.importance.sum(1) * patches_of_cell - 1.0).abs().max().item<double>(), 1e-5) << folder;
  }
}
}  // namespace
}  // namespace winnow::testing::qwen2_vl_test
