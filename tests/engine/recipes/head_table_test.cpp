#include "engine/recipes/head_table.h"

#include <gtest/gtest.h>

namespace winnow {
namespace {

const HeadTable kMeasured = {{0.9, 0.6}, {0.8, 0.9}};

TEST(HeadTable, IsWrittenAndReadAlike) {
  EXPECT_EQ(head_table_text(kMeasured), "0.9:0.6/0.8:0.9");
  EXPECT_EQ(parse_head_table(head_table_text(kMeasured)), kMeasured);
  const HeadTable odd = {{1.0 / 3.0, 1e-9, 0.0}};
  EXPECT_EQ(parse_head_table(head_table_text(odd)), odd);
  EXPECT_EQ(head_table_text({}), "");
  for (const char* text : {"", "x", "0.1:", "0.1;0.2", "0.1:a", "0,1"}) {
    const HeadTable read = parse_head_table(text);
    EXPECT_TRUE(read.empty() || head_table_text(read) == "0.1") << text;
  }
}

TEST(HeadTable, SaysWhatIsWrong) {
  EXPECT_EQ(head_table_problem(kMeasured), "");
  EXPECT_EQ(head_table_problem({}), "");
  EXPECT_EQ(head_table_problem({{0.1, 0.2}, {0.3}}), "must have one number per head in every layer");
  EXPECT_EQ(head_table_problem({{}}), "must have one number per head in every layer");
  EXPECT_EQ(head_table_problem({{0.1, -0.2}}), "must have numbers that are not negative");
}

}  // namespace
}  // namespace winnow
