// Conversations that a signal ends.
#include <gtest/gtest.h>

#include <csignal>

#include "running_program.h"

namespace winnow::testing {
namespace {

constexpr int kTerminated = 128 + SIGTERM;

// It took SIGTERM for Ctrl+C, stopped the answer and waited for the next question; at the end of its input it said 0.
TEST(RunningChat, SigtermEndsItInTheMiddleOfAnAnswer) {
  const ScratchFolder scratch;
  RunningProgram chat(scratch, "chat --max-tokens 400");
  chat.type("/video " + demo("samples/ten-seconds.mp4").string() + " 64");
  chat.type("What is shown?");
  ASSERT_TRUE(chat.waits_for_err("prefill")) << chat.err();
  chat.send(SIGTERM);
  chat.type("/quit");
  EXPECT_EQ(chat.ended(), kTerminated) << chat.err();
}

TEST(RunningChat, SigtermEndsItWhileItWaitsForALine) {
  const ScratchFolder scratch;
  RunningProgram chat(scratch, "chat --max-tokens 2");
  chat.type("Hello?");
  chat.type("/nonsense");  // answered once the line before is
  ASSERT_TRUE(chat.waits_for_err("/nonsense")) << chat.err();
  chat.send(SIGTERM);
  EXPECT_EQ(chat.ended(), kTerminated) << chat.err();
}

}  // namespace
}  // namespace winnow::testing
