// Time instructions as data: placeholders and rounding.
#include <gtest/gtest.h>

#include "engine/generation/segment/time_instruction.h"

namespace winnow {
namespace {

TEST(TimeInstruction, FillsItsPlaceholders) {
  EXPECT_EQ(time_instruction("The video lasts {duration_s} seconds, {frames} frames.", {127.5, 64}),
            "The video lasts 128 seconds, 64 frames.");
  EXPECT_EQ(time_instruction("one every {interval_s} seconds", {10.0, 64}), "one every 0.16 seconds");
}

TEST(TimeInstruction, NamesTheTimeOfEveryFrame) {
  const std::string pattern = "{exact_duration_s} s, {frames} at {frame_times}.";
  EXPECT_EQ(time_instruction(pattern, {3.14159, 3, {0.0, 1.005, 2.5}}), "3.14 s, 3 at 0.00s,1.00s,2.50s.");
  // Of a source that is still running only the first time is known.
  EXPECT_EQ(time_instruction(pattern, {6.0, 3, {1.0}, true}), "6.00 s, 3 at 1.00s,3.00s,5.00s.");
  EXPECT_EQ(time_instruction(pattern, {}), "0.00 s, 0 at .");
}

TEST(TimeInstruction, RepeatsAndUnknownTextStay) { EXPECT_EQ(time_instruction("{frames}{frames} {other}", {1.0, 3}), "33 {other}"); }

}  // namespace
}  // namespace winnow
