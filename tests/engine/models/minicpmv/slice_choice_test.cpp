// How a picture is cut, compared with transformers (tests/golden/minicpmv/sizes.json, by make_minicpmv_golden.py).
#include "engine/models/families/minicpmv_folder.h"

#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "tests/support/expect_error.h"
#include "tests/support/source_folder.h"

namespace winnow::minicpmv_test {
namespace {

TEST(SliceChoice, EqualsTransformers) {
  const Json golden = load_json(source_folder() + "/tests/golden/minicpmv/sizes.json");
  ASSERT_GE(golden.at("rows").size(), 250U);
  for (const Json& row : golden.at("rows")) {
    const SliceRules rules{row[0], row[1], row[2], row[3]};
    const SlicedPicture cut = sliced_picture({row[4], row[5]}, rules);
    EXPECT_EQ(Json::array({cut.whole.rows, cut.whole.columns, cut.rows, cut.columns, cut.slice.rows, cut.slice.columns}),
              Json(std::vector<Json>(row.begin() + 6, row.end())))
        << row.dump();
  }
}

TEST(SliceChoice, ASmallPictureIsMadeLargerAndNotCut) {
  const SlicedPicture small = sliced_picture({10, 10}, {});
  EXPECT_EQ(small.whole, (CellGrid{8, 8}));
  EXPECT_EQ(small.slices(), 0);
  EXPECT_EQ(small.cells(), 64);
}

TEST(SliceChoice, ALargePictureIsCutInItsOwnShape) {
  const SlicedPicture wide = sliced_picture({1080, 1920}, {});
  EXPECT_EQ(wide.rows, 2);
  EXPECT_EQ(wide.columns, 4);
  EXPECT_EQ(wide.cells(), wide.whole.cells() + 8 * wide.slice.cells());
  SliceRules fine;
  fine.joined = 2;
  EXPECT_GT(sliced_picture({1080, 1920}, fine).cells(), 3 * wide.cells()) << "four patches a token";
}

TEST(SliceChoice, AStripHasACellAcross) {
  const SlicedPicture strip = sliced_picture({1, 200}, {});
  EXPECT_EQ(strip.whole.rows, 1);
  EXPECT_GT(strip.whole.columns, 100);
  test::expect_error(ErrorCode::kInvalidArgument, "image", [] { sliced_picture({0, 5}, {}); });
}

}  // namespace
}  // namespace winnow::minicpmv_test
