// methods' fixtures 5.6: one row over the prompt S V V V V T T T.
#include "engine/metrics/selection_quality.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"

namespace winnow {
namespace {

const AttentionRow kRow = {.30, .02, .05, .20, .08, .25, .03, .07};
const std::vector<bool> kVisual = {false, true, true, true, true, false, false, false};

TEST(SelectionQuality, FollowsTheFixture) {
  EXPECT_EQ(top_columns(kRow, 4), (std::vector<int>{0, 3, 4, 5}));
  EXPECT_NEAR(cache_hit_rate(kRow, std::vector<int>{0, 1, 5, 7}, 4), 0.5, 1e-12);
  const AttentionRow filtered = threshold_filter(kRow, 0.2);
  for (std::size_t column = 0; column < kRow.size(); ++column) {
    EXPECT_EQ(filtered[column] == 0.0, column == 1 || column == 2 || column == 6) << column;
  }
  const std::vector<AttentionRow> rows = {kRow};
  EXPECT_NEAR(sparsity(rows, 0.2), 0.375, 1e-12);
  EXPECT_NEAR(contribution(rows, kVisual, 0.2), 0.311111, 1e-6);
  EXPECT_NEAR(coverage(rows, kVisual, 0.5), 0.5, 1e-12);
}

TEST(SelectionQuality, KeptAttentionIsAShareOfTheRow) {
  EXPECT_NEAR(kept_attention(AttentionRow{.1, .4, .2, .3}, std::vector<int>{1, 3}), 0.7, 1e-12);
  EXPECT_NEAR(kept_attention(AttentionRow{.1, .1, .2}, std::vector<int>{2}), 0.5, 1e-12) << "rows of the prompt alone do not add up to 1";
  EXPECT_EQ(kept_attention(AttentionRow{.5, .5}, {}), 0.0);
  EXPECT_EQ(kept_attention(AttentionRow{0.0}, std::vector<int>{0}), 0.0);
  EXPECT_THROW(kept_attention(AttentionRow{.5}, std::vector<int>{1}), Exception);
}

TEST(SelectionQuality, TiesGoToTheSmallerColumn) {
  EXPECT_EQ(top_columns(AttentionRow{.1, .4, .1, .4, .1}, 3), (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(top_columns(AttentionRow{.5, .5}, 9), (std::vector<int>{0, 1}));
  EXPECT_TRUE(top_columns(AttentionRow{.5, .5}, 0).empty());
}

TEST(SelectionQuality, SparsityCountsCausalEntriesOnly) {
  // Rows of a causal triangle: 1 + 2 + 3 entries, two of them below half of their row's maximum.
  const std::vector<AttentionRow> rows = {{1.0}, {.9, .1}, {.4, .5, .1}};
  EXPECT_NEAR(sparsity(rows, 0.5), 2.0 / 6.0, 1e-12);
}

TEST(SelectionQuality, GeneratedColumnsAreNoPromptColumns) {
  // Two generated columns behind the prompt take most of the attention; shares are among the prompt's columns. k = floor(0.3 * 10) = 3.
  AttentionRow row = kRow;
  row.push_back(.9);
  row.push_back(.8);
  const std::vector<AttentionRow> rows = {row};
  EXPECT_NEAR(coverage(rows, kVisual, 0.3), 0.0, 1e-12);            // of the top three only column 0 is the prompt's
  EXPECT_NEAR(contribution(rows, kVisual, 0.2), .20 / .75, 1e-12);  // filter at .18 leaves columns 0, 3 and 5
}

TEST(SelectionQuality, OutputErrorIsRelative) {
  EXPECT_NEAR(attention_output_error(std::vector<float>{3, 4}, std::vector<float>{3, 3}), 0.2, 1e-7);
  EXPECT_EQ(attention_output_error(std::vector<float>{0, 0}, std::vector<float>{0, 0}), 0.0);
  EXPECT_TRUE(std::isinf(attention_output_error(std::vector<float>{0}, std::vector<float>{1})));
}

}  // namespace
}  // namespace winnow
