// Every library of the terminal program, and of the window where it is built, but the one that makes the engine: what a linker is told to
// bring, a program loads, whether it uses it or not.
#include <gtest/gtest.h>

#include "tests/support/loaded_libraries.h"

namespace winnow {
namespace {

TEST(WithoutLibtorch, AppAndWindowBringNone) {
  ASSERT_NE(test::loaded_library("/libavcodec"), "") << "this program is linked to less than the terminal's libraries";
  EXPECT_EQ(test::loaded_library("/libtorch"), "");
  EXPECT_EQ(test::loaded_library("/libc10"), "");
}

}  // namespace
}  // namespace winnow
