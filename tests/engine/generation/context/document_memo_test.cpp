#include "engine/generation/context/document_memo.h"

#include <gtest/gtest.h>

namespace winnow {
namespace {

DocumentTokens of(std::int64_t id) { return {.ids = {id}, .all = 1}; }

TEST(DocumentMemo, FindsATextByItselfAndHowMuchOfItIsRead) {
  DocumentMemo memo;
  memo.keep("a text", 0, of(7));
  memo.keep("a text", 3, of(8));
  ASSERT_NE(memo.find("a text", 0), nullptr);
  EXPECT_EQ(memo.find("a text", 0)->ids.front(), 7);
  EXPECT_EQ(memo.find("a text", 3)->ids.front(), 8);
  EXPECT_EQ(memo.find("a text", 4), nullptr);
  EXPECT_EQ(memo.find("a texT", 0), nullptr);
}

TEST(DocumentMemo, HoldsTheLastUsedWithinItsBounds) {
  DocumentMemo few(2);
  few.keep("one", 0, of(1));
  few.keep("two", 0, of(2));
  few.find("one", 0);
  few.keep("three", 0, of(3));
  EXPECT_NE(few.find("one", 0), nullptr) << "it was used since";
  EXPECT_EQ(few.find("two", 0), nullptr);
  DocumentMemo small(8, 10);
  small.keep("eight...", 0, of(1));
  small.keep("five.", 0, of(2));
  EXPECT_EQ(small.find("eight...", 0), nullptr);
  small.keep("longer than the bound", 0, of(3));
  EXPECT_NE(small.find("longer than the bound", 0), nullptr) << "the one in use stays";
}

}  // namespace
}  // namespace winnow
