// Counted things in English, without a translation file.
#include "app/words/english_plurals.h"

#include <gtest/gtest.h>

#include <QCoreApplication>

namespace winnow::ui {
namespace {

QString counted(const char* text, int n) { return QCoreApplication::translate("Test", text, nullptr, n); }

TEST(EnglishPlurals, AgreeWithTheirNumber) {
  EXPECT_EQ(counted("%n method(s)", 1), QStringLiteral("1 method"));
  EXPECT_EQ(counted("%n method(s)", 0), QStringLiteral("0 methods"));
  EXPECT_EQ(counted("%n method(s): failed", 3), QStringLiteral("3 methods: failed"));
  EXPECT_EQ(QCoreApplication::translate("Test", "a file(s)"), QStringLiteral("a file(s)")) << "nothing was counted";
}

}  // namespace
}  // namespace winnow::ui
