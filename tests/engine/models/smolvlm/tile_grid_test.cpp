#include "engine/models/families/smolvlm_folder.h"

#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "tests/support/expect_error.h"
#include "tests/support/source_folder.h"

namespace winnow::smolvlm_test {
namespace {

// SmolVLM-256M: 2,048 px, tiles of 512.
constexpr TileRules kRules{2048, 512, true};

TEST(TileGrid, AScreenIsFourByThreeTiles) {
  // 1920 x 1080 becomes 2048 x 1152, and 1152 is three tiles of 512 px.
  const TileGrid grid = tile_grid({1080, 1920}, kRules);
  EXPECT_EQ(grid.first, (PixelSize{1152, 2048}));
  EXPECT_EQ(grid.whole, (PixelSize{1536, 2048}));
  EXPECT_EQ(grid.rows, 3);
  EXPECT_EQ(grid.columns, 4);
}

TEST(TileGrid, TheShorterEdgeIsEven) {
  EXPECT_EQ(tile_grid({1000, 333}, {100, 10, true}).first, (PixelSize{100, 34}));  // 33.3, 33, 34
  EXPECT_EQ(tile_grid({333, 1000}, {100, 10, true}).first, (PixelSize{34, 100}));
  EXPECT_EQ(tile_grid({1, 900}, {100, 10, true}).first, (PixelSize{1, 100})) << "nothing is left of it; it is one pixel";
}

TEST(TileGrid, WhatFitsOneTileIsNotCut) {
  const TileGrid grid = tile_grid({30, 40}, {512, 512, true});
  EXPECT_EQ(grid.whole, (PixelSize{512, 512}));
  EXPECT_EQ(grid.rows, 0);
  EXPECT_EQ(grid.columns, 0);
}

TEST(TileGrid, WithoutSplittingEveryPictureIsOneSquare) {
  const TileGrid grid = tile_grid({1080, 1920}, {2048, 512, false});
  EXPECT_EQ(grid.first, (PixelSize{1152, 2048}));
  EXPECT_EQ(grid.whole, (PixelSize{512, 512}));
  EXPECT_EQ(grid.rows, 0);
}

TEST(TileGrid, SizesEqualTransformers) {
  const Json golden = load_json(source_folder() + "/tests/golden/smolvlm/sizes.json");
  ASSERT_GE(golden["sizes"].size(), 500U);
  for (const Json& row : golden["sizes"]) {
    const TileGrid grid = tile_grid({row[2], row[3]}, {row[0], row[1], true});
    EXPECT_EQ(grid.first, (PixelSize{row[4], row[5]})) << row;
    EXPECT_EQ(grid.whole, (PixelSize{row[6], row[7]})) << row;
    EXPECT_EQ(grid.rows, row[8]) << row;
    EXPECT_EQ(grid.columns, row[9]) << row;
  }
}

TEST(TileGrid, MoreThanAThousandTilesAreRefused) {
  test::expect_error(ErrorCode::kLimitExceeded, "tiles", [] { tile_grid({100, 100}, {4096, 16, true}); });
}

}  // namespace
}  // namespace winnow::smolvlm_test
