#include "app/programs/cli/console_output.h"

#include <gtest/gtest.h>

namespace winnow::cli {
namespace {

TEST(ConsoleOutput, ShowsWhatWouldSteerATerminal) {
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1B]0;title\\x07");
  EXPECT_EQ(printable("a\rb\x7f\bc"), "a\\x0Db\\x7F\\x08c");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\x9B31m")
      << "CSI as one character";
  EXPECT_EQ(printable("\x9B"
                      "31m"),
            "\\x9B31m")
      << "CSI as one byte, which is no UTF-8";
  EXPECT_EQ(printable("\xE2\x80\xAE"
                      "gnp.exe\xE2\x81\xA6"),
            "\\u202Egnp.exe\\u2066");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(ConsoleOutput, LeavesTextAsItIs) {
  const char* text = "Größe: 5 µm\n\t大きさ 🙂 مرحبا é";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

TEST(ConsoleOutput, ASentenceStaysOneLine) { EXPECT_EQ(printable_line("a\nwinnow-cli: forged\t"), "a\\x0Awinnow-cli: forged\\x09"); }

TEST(ConsoleOutput, BrokenUtf8IsShownByteByByte) {
  EXPECT_EQ(printable("\xE2\x80"), "\\xE2\\x80");
  EXPECT_EQ(printable("\xC0\x9B"), "\\xC0\\x9B") << "overlong";
  EXPECT_EQ(printable("\xF5\x80\x80\x80"), "\\xF5\\x80\\x80\\x80");
}

}  // namespace
}  // namespace winnow::cli
