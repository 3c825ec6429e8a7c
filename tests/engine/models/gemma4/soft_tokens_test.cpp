#include "engine/models/families/gemma4_folder.h"

#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "tests/support/expect_error.h"
#include "tests/support/source_folder.h"

namespace winnow::gemma4_test {
namespace {

TEST(SoftTokens, APictureFillsItsBudgetInItsOwnShape) {
  SoftTokenRules rules;
  const TokenGrid wide = soft_token_grid({1080, 1920}, rules);
  EXPECT_EQ(wide.rows, 12);
  EXPECT_EQ(wide.columns, 22);
  EXPECT_EQ(soft_token_grid({108, 192}, rules).columns, 22) << "a small picture is made larger";
  rules.budget = 1120;
  EXPECT_EQ(soft_token_grid({1080, 1920}, rules).rows, 25);
}

TEST(SoftTokens, ALongPictureIsAStrip) {
  const TokenGrid strip = soft_token_grid({2, 10'000}, {});
  EXPECT_EQ(strip.rows, 1);
  EXPECT_EQ(strip.columns, 280);
  EXPECT_EQ(soft_token_grid({10'000, 2}, {}).rows, 280);
  test::expect_error(ErrorCode::kInvalidArgument, "image", [] { soft_token_grid({0, 5}, {}); });
}

// Rows of tests/golden/make/make_gemma4_golden.py.
TEST(SoftTokens, EqualTransformers) {
  const Json golden = load_json(source_folder() + "/tests/golden/gemma4/sizes.json");
  ASSERT_GE(golden.size(), 150U);
  for (const Json& row : golden) {
    SoftTokenRules rules{.patch_px = row[0], .pooled = row[1], .budget = row[2]};
    const TokenGrid grid = soft_token_grid({row[3], row[4]}, rules);
    EXPECT_EQ(grid.rows, row[5].get<std::int64_t>()) << row.dump();
    EXPECT_EQ(grid.columns, row[6].get<std::int64_t>()) << row.dump();
    EXPECT_LE(grid.rows * grid.columns, rules.budget) << row.dump();
  }
}

}  // namespace
}  // namespace winnow::gemma4_test
