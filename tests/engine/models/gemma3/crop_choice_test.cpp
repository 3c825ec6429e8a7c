#include "engine/models/families/gemma3_folder.h"

#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "tests/support/source_folder.h"

namespace winnow::gemma3_test {
namespace {

constexpr CropRules kRules{.wanted = true};

TEST(CropChoice, ALongPictureIsCutAlongItsLongerSide) {
  // 1,920 / 1,080 = 1.78, rounded 2.
  const CropGrid lying = crops_of({1080, 1920}, kRules);
  EXPECT_EQ(lying.rows, 1);
  EXPECT_EQ(lying.columns, 2);
  EXPECT_EQ(lying.crop, (PixelSize{1080, 960}));
  const CropGrid standing = crops_of({2500, 601}, kRules);
  EXPECT_EQ(standing.rows, 4) << "4.16, rounded";
  EXPECT_EQ(standing.columns, 1);
  EXPECT_EQ(standing.crop, (PixelSize{625, 601}));
}

TEST(CropChoice, NothingIsCutOfAPictureThatIsHardlyLongerOrSmall) {
  EXPECT_EQ(crops_of({600, 719}, kRules).crops(), 0);
  EXPECT_EQ(crops_of({600, 720}, kRules).crops(), 2);
  EXPECT_EQ(crops_of({255, 1000}, kRules).crops(), 0) << "crops of 255 px";
  EXPECT_EQ(crops_of({300, 500}, kRules).crops(), 0) << "two crops of 250 px";
  EXPECT_EQ(crops_of({1080, 1920}, {}).crops(), 0) << "nobody asked for it";
  EXPECT_EQ(crops_of({0, 0}, kRules).crops(), 0);
}

// Where transformers cuts crops without a pixel, they are left out.
TEST(CropChoice, EveryCropHasPixels) {
  const CropGrid grid = crops_of({5, 9}, {.wanted = true, .least_px = 1, .most = 64, .least_ratio = 1.0});
  EXPECT_EQ(grid.columns, 2);
  const CropGrid many = crops_of({1, 9}, {.wanted = true, .least_px = 1, .most = 7, .least_ratio = 1.0});
  EXPECT_EQ(many.crop.width_px, 2);
  EXPECT_EQ(many.columns, 5);
}

// Rows of tests/golden/make/make_gemma3_golden.py.
TEST(CropChoice, EqualsTransformers) {
  const Json golden = load_json(source_folder() + "/tests/golden/gemma3/sizes.json");
  ASSERT_GE(golden["crops"].size(), 300U);
  for (const Json& row : golden["crops"]) {
    const CropGrid grid = crops_of({row[3], row[4]}, {true, row[0], row[1], row[2]});
    EXPECT_EQ(grid.rows, row[5].get<std::int64_t>()) << row.dump();
    EXPECT_EQ(grid.columns, row[6].get<std::int64_t>()) << row.dump();
  }
}

}  // namespace
}  // namespace winnow::gemma3_test
