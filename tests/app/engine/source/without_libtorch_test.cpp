// Every library of the terminal program, and of the window where it is built, but the one that makes the engine: what a linker is told to
// bring, a program loads, whether it uses it or not.
#include <gtest/gtest.h>

#include "tests/support/loaded_libraries.h"

namespace winnow {
namespace {

// libavcodec: of the terminal's libraries.
TEST(WithoutLibtorch, AppAndWindowBringNone) { test::expect_no_libtorch("/libavcodec"); }

}  // namespace
}  // namespace winnow
