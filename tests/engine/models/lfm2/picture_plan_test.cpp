#include "engine/models/families/lfm2_vl_folder.h"

#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "tests/support/source_folder.h"

namespace winnow::lfm2_plan_test {
namespace {

Lfm2PictureRules rules_of(const Json& settings) {
  Lfm2PictureRules rules;
  rules.patch_px = settings.value("encoder_patch_size", rules.patch_px);
  rules.merge = settings.value("downsample_factor", rules.merge);
  rules.least_tokens = settings.value("min_image_tokens", rules.least_tokens);
  rules.most_tokens = settings.value("max_image_tokens", rules.most_tokens);
  rules.tolerance = settings.value("max_pixels_tolerance", rules.tolerance);
  rules.tiles = {settings.value("tile_size", rules.tiles.side_px), settings.value("min_tiles", rules.tiles.least),
                 settings.value("max_tiles", rules.tiles.most), settings.value("use_thumbnail", true)};
  if (!settings.value("do_image_splitting", true)) rules.tiles.least = rules.tiles.most = 1;
  return rules;
}

TEST(Lfm2PicturePlan, SizesAndTilesEqualTheReference) {
  std::size_t compared = 0;
  std::size_t cut = 0;
  for (const Json& entry : load_json(source_folder() + "/tests/golden/lfm2_vl/sizes.json")) {
    const Lfm2PictureRules rules = rules_of(entry["rules"]);
    for (const Json& row : entry["pictures"]) {
      SCOPED_TRACE(entry["rules"].dump() + " " + row.dump());
      const Lfm2PicturePlan plan = lfm2_picture_plan({row[0], row[1]}, rules);
      EXPECT_EQ(plan.tiles.rows, row[2].get<std::int64_t>());
      EXPECT_EQ(plan.tiles.columns, row[3].get<std::int64_t>());
      EXPECT_EQ(plan.whole, (PixelSize{row[4], row[5]}));
      ++compared;
      cut += plan.cut() ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 300U);
  EXPECT_GT(cut, 150U);
}

TEST(Lfm2PicturePlan, CountsTokensAndTheirMarks) {
  const Lfm2PictureRules rules;
  const Lfm2PicturePlan large = lfm2_picture_plan({1024, 1024}, rules);
  ASSERT_EQ(large.tiles.tiles(), 4);
  EXPECT_EQ(tokens_of_plan(large, rules), 4 * (256 + 1) + 256 + 1 + 2);
  EXPECT_EQ(tokens_of_plan(large, rules), most_tokens_of_tiles(4, rules));
  EXPECT_EQ(tokens_of_plan(lfm2_picture_plan({512, 256}, rules), rules), 16 * 8 + 2);
}

// Tiles first, then the picture that is not cut; small pictures grow less, too.
TEST(Lfm2PicturePlan, ABoundTakesTilesBeforeTheThumbnail) {
  const Lfm2PictureRules rules;
  const PixelSize wide{1000, 3000};
  EXPECT_EQ(of_at_most(0, wide, rules).tiles.most, 10);
  EXPECT_EQ(of_at_most(100'000, wide, rules).tiles.most, 10) << "never more than the folder has";
  EXPECT_EQ(of_at_most(4 * 257 + 257 + 2, wide, rules).tiles.most, 4);
  EXPECT_EQ(of_at_most(4 * 257 + 257 + 1, wide, rules).tiles.most, 3);
  const Lfm2PictureRules whole = of_at_most(600, wide, rules);
  EXPECT_FALSE(whole.cuts());
  EXPECT_EQ(whole.most_tokens, 256);
  EXPECT_EQ(whole.least_tokens, 64);
  const Lfm2PictureRules few = of_at_most(42, wide, rules);
  EXPECT_FALSE(few.cuts());
  EXPECT_EQ(few.most_tokens, 40);
  EXPECT_EQ(few.least_tokens, 10);
}

TEST(Lfm2PicturePlan, NoPictureTakesMoreThanItsBound) {
  const Lfm2PictureRules rules;
  for (const PixelSize size :
       {PixelSize{1, 1}, PixelSize{30, 31}, PixelSize{20, 4000}, PixelSize{512, 512}, PixelSize{2000, 1000}, PixelSize{8000, 8000}}) {
    for (const std::int64_t most : {8, 20, 66, 130, 258, 300, 773, 1000, 2829}) {
      const Lfm2PictureRules bounded = of_at_most(most, size, rules);
      const std::int64_t least = size.width_px == 4000 ? 16 : 4;  // a strip is whole tokens, and so are both ends
      EXPECT_LE(tokens_of_plan(lfm2_picture_plan(size, bounded), bounded), std::max(most, least)) << size.height_px << " " << most;
    }
  }
}

}  // namespace
}  // namespace winnow::lfm2_plan_test
