#include "engine/models/families/llava_onevision_folder.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace winnow::test::llava_onevision_test {
namespace {

GridRules small_rules() {
  GridRules rules{.pinpoints = {{84, 84}, {84, 168}, {168, 84}, {168, 168}}, .side_px = 84, .patches_per_side = 3, .max_tiles = 9};
  return rules;
}

TEST(TokenLayout, CountsVideosAndSingleImages) {
  GridRules rules = small_rules();
  EXPECT_EQ(frame_tokens(rules, {}), 4);  // ceil(3 / 2) squared
  EXPECT_EQ(std::ssize(video_origins(64, rules, {})), 257);
  EXPECT_EQ(std::ssize(single_image_origins(rules)), 10);
  rules.patches_per_side = 27;
  EXPECT_EQ(std::ssize(video_origins(32, rules, {})), 32 * 196 + 1);
  EXPECT_EQ(std::ssize(single_image_origins(rules)), 730);
}

TEST(TokenLayout, VideoOriginsEndWithOneNewlineOfNoFrame) {
  const std::vector<TokenOrigin> origins = video_origins(2, small_rules(), {});
  ASSERT_EQ(origins.size(), 9U);
  EXPECT_EQ(origins[4].frame, 1);
  EXPECT_EQ(origins[7].row, 1);
  EXPECT_EQ(origins[7].column, 1);
  EXPECT_EQ(origins[8].frame, -1);
  EXPECT_EQ(origins[8].row, -1);
}

// LLaVA-Video's own numbers: 27 x 27 patches averaged to 13 x 13, 14 tokens a row with its newline.
TEST(TokenLayout, NewlinesStandWhereTheFileSays) {
  GridRules rules = small_rules();
  rules.patches_per_side = 27;
  const auto tokens = [&](FramePooling mode, std::int64_t stride, NewlinePlace place) {
    const VideoRules video{{mode, stride}, place};
    return std::pair{frame_tokens(rules, video), std::ssize(video_origins(2, rules, video))};
  };
  EXPECT_EQ(tokens(FramePooling::kAverage, 2, NewlinePlace::kRow), (std::pair<std::int64_t, std::ptrdiff_t>{13 * 14, 2 * 13 * 14}));
  EXPECT_EQ(tokens(FramePooling::kMaximum, 2, NewlinePlace::kFrame), (std::pair<std::int64_t, std::ptrdiff_t>{170, 340}));
  EXPECT_EQ(tokens(FramePooling::kBilinear, 2, NewlinePlace::kNowhere), (std::pair<std::int64_t, std::ptrdiff_t>{196, 392}));
  EXPECT_EQ(tokens(FramePooling::kAverage, 1, NewlinePlace::kVideo), (std::pair<std::int64_t, std::ptrdiff_t>{729, 1459}));
  EXPECT_EQ(tokens(FramePooling::kBilinear, 4, NewlinePlace::kVideo), (std::pair<std::int64_t, std::ptrdiff_t>{49, 99}));
}

TEST(TokenLayout, NewlinesOfRowsAndFramesAreOfTheirFrame) {
  const VideoRules rows{{FramePooling::kBilinear, 2}, NewlinePlace::kRow};
  const std::vector<TokenOrigin> by_row = video_origins(2, small_rules(), rows);  // 2 x 2 tokens a frame
  ASSERT_EQ(by_row.size(), 12U);
  for (const std::size_t newline : {2U, 5U, 8U, 11U}) {
    EXPECT_EQ(by_row[newline].row, -1);
    EXPECT_EQ(by_row[newline].frame, newline < 6 ? 0 : 1);
  }
  EXPECT_EQ(by_row[10].row, 1);
  EXPECT_EQ(by_row[10].column, 1);
  const VideoRules frames{{FramePooling::kAverage, 1}, NewlinePlace::kFrame};
  const std::vector<TokenOrigin> by_frame = video_origins(2, small_rules(), frames);  // 3 x 3
  ASSERT_EQ(by_frame.size(), 20U);
  EXPECT_EQ(by_frame[9].row, -1);
  EXPECT_EQ(by_frame[9].frame, 0);
  EXPECT_EQ(by_frame[10].row, 0);
  EXPECT_EQ(by_frame[10].frame, 1);
  EXPECT_EQ(by_frame[19].frame, 1);
}

TEST(TokenLayout, DroppingTheFirstFeatureLeavesOnlySingleImages) {
  GridRules rules = small_rules();
  rules.drop_first_feature = true;
  EXPECT_EQ(single_image_origins(rules).size(), 9U);
  EXPECT_EQ(single_image_origins(rules)[0].column, 1);
  expect_error(ErrorCode::kUnsupportedModel, "vision_feature_select_strategy", [&] { video_origins(2, rules, {}); });
}

}  // namespace
}  // namespace winnow::test::llava_onevision_test
