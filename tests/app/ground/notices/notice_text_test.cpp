#include "app/ground/notices/notice_text.h"

#include <gtest/gtest.h>

#include <set>

namespace winnow::app {
namespace {

TEST(CacheNoteText, EveryNoteHasItsOwnClauseForPeople) {
  std::set<std::string> clauses;
  for (int code = 1; code <= static_cast<int>(CompressionNote::kSystemJoinsQuestion); ++code) {
    const std::string clause = cacheNoteText(static_cast<CompressionNote>(code), 256);
    EXPECT_FALSE(clause.empty()) << code;
    EXPECT_EQ(clause.find('%'), std::string::npos) << clause;
    clauses.insert(clause);
  }
  EXPECT_EQ(clauses.size(), 7u);
}

TEST(CacheNoteText, NamesTheLengthBelowWhichTextStaysWhole) {
  EXPECT_EQ(cacheNoteText(CompressionNote::kShortText, 256), "not compressed: text of fewer than 256 tokens stays whole");
}

TEST(CacheNoteText, ACodeOfALaterVersionIsSaidToBeUnknown) {
  EXPECT_NE(cacheNoteText(static_cast<CompressionNote>(99), 0).find("no words for"), std::string::npos);
}

}  // namespace
}  // namespace winnow::app
