// Time instructions as data: placeholders and rounding.
#include <gtest/gtest.h>

#include "engine/generation/segment/prompt.h"

namespace winnow {
namespace {

TEST(TimeInstruction, FillsItsPlaceholders) {
  EXPECT_EQ(time_instruction("The video lasts {duration_s} seconds, {frames} frames.", {127.5, 64}),
            "The video lasts 128 seconds, 64 frames.");
  EXPECT_EQ(time_instruction("one every {interval_s} seconds", {10.0, 64}), "one every 0.16 seconds");
}

TEST(TimeInstruction, RepeatsAndUnknownTextStay) { EXPECT_EQ(time_instruction("{frames}{frames} {other}", {1.0, 3}), "33 {other}"); }

}  // namespace
}  // namespace winnow
