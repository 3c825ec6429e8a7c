#include "engine/models/vision/tile_choice.h"

#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "tests/support/source_folder.h"

namespace winnow::internvl_test {
namespace {

constexpr TileBounds kBounds{448, 1, 12, true};

TEST(TileChoice, AScreenIsTwoByFourTiles) {
  // 1920 / 1080 = 1.78; of up to 12 tiles 7 x 4 are too many, 2 x 1 (off by 0.22) is nearer than 3 x 2 (0.28), and 4 x 2 has the same
  // shape.
  const TileCount grid = closest_tiles({1080, 1920}, kBounds);
  EXPECT_EQ(grid.rows, 2);
  EXPECT_EQ(grid.columns, 4);
}

TEST(TileChoice, OfTwoAsCloseTheLargerIsTakenOnceThePictureFillsHalfOfIt) {
  // 2 x 2 tiles have 896 x 896 px; half of that is a square of 633.6.
  EXPECT_EQ(closest_tiles({633, 633}, {448, 1, 4, true}).tiles(), 1);
  EXPECT_EQ(closest_tiles({634, 634}, {448, 1, 4, true}).tiles(), 4);
}

TEST(TileChoice, WhereNoGridIsAllowedThereIsOneTile) { EXPECT_EQ(closest_tiles({300, 300}, {448, 5, 4, true}).tiles(), 1); }

// Rows of tests/golden/make/make_internvl_golden.py.
TEST(TileChoice, EqualsTransformers) {
  const Json golden = load_json(source_folder() + "/tests/golden/internvl/sizes.json");
  ASSERT_GE(golden["grids"].size(), 500U);
  for (const Json& row : golden["grids"]) {
    const TileCount grid = closest_tiles({row[3], row[4]}, {row[0], row[1], row[2], true});
    EXPECT_EQ(grid.rows, row[5].get<std::int64_t>()) << row.dump();
    EXPECT_EQ(grid.columns, row[6].get<std::int64_t>()) << row.dump();
  }
}

}  // namespace
}  // namespace winnow::internvl_test
