#include "engine/models/llava_onevision/token_layout.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace winnow {
namespace {

using test::expect_error;

GridRules small_rules() {
  GridRules rules;
  rules.pinpoints = {{84, 84}, {84, 168}, {168, 84}, {168, 168}};
  rules.side_px = 84;
  rules.patches_per_side = 3;
  rules.max_tiles = 9;
  return rules;
}

TEST(TokenLayout, CountsVideosAndSingleImages) {
  GridRules rules = small_rules();
  EXPECT_EQ(frame_tokens(rules), 4);  // ceil(3 / 2) squared
  EXPECT_EQ(std::ssize(video_origins(64, rules)), 257);
  EXPECT_EQ(std::ssize(single_image_origins(rules)), 10);
  rules.patches_per_side = 27;
  EXPECT_EQ(std::ssize(video_origins(32, rules)), 32 * 196 + 1);
  EXPECT_EQ(std::ssize(single_image_origins(rules)), 730);
}

TEST(TokenLayout, VideoOriginsEndWithOneNewlineOfNoFrame) {
  const std::vector<TokenOrigin> origins = video_origins(2, small_rules());
  ASSERT_EQ(origins.size(), 9U);
  EXPECT_EQ(origins[4].frame, 1);
  EXPECT_EQ(origins[7].row, 1);
  EXPECT_EQ(origins[7].column, 1);
  EXPECT_EQ(origins[8].frame, -1);
  EXPECT_EQ(origins[8].row, -1);
}

TEST(TokenLayout, DroppingTheFirstFeatureLeavesOnlySingleImages) {
  GridRules rules = small_rules();
  rules.drop_first_feature = true;
  EXPECT_EQ(single_image_origins(rules).size(), 9U);
  EXPECT_EQ(single_image_origins(rules)[0].column, 1);
  expect_error(ErrorCode::kUnsupportedModel, "vision_feature_select_strategy", [&] { video_origins(2, rules); });
}

}  // namespace
}  // namespace winnow
