// Conversations that a signal ends, or whose model's file is overwritten.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "running_program.h"
#include "tests/support/golden_path.h"
#include "tests/support/packed_gguf.h"

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

TEST(RunningChat, GoesOnWhenItsModelIsOverwrittenAndLoadedAgain) {
  const ScratchFolder scratch;
  const std::string bytes =
      in_blocks(test_support::golden_folder("smolvlm/smolvlm2_split") + "/gguf/model.gguf", [](const std::string&) { return true; });
  write_file(scratch.file("model.gguf"), bytes);
  RunningProgram chat(scratch, "chat --device cpu --max-tokens 3 --model " + shell_quoted(scratch.file("model.gguf")));
  chat.type("One?");
  ASSERT_TRUE(chat.waits_for_out("\n")) << chat.err();
  write_file(scratch.file("model.gguf"), "GGUF");
  chat.type("Two?");
  ASSERT_TRUE(chat.waits_for_err("(/reload loads the model again, and the conversation goes on)")) << chat.err();
  EXPECT_NE(chat.err().find("model.gguf: another program changed the file"), std::string::npos) << chat.err();
  chat.type("/reload");
  ASSERT_TRUE(chat.waits_for_err("the file ends within its header")) << chat.err();
  write_file(scratch.file("model.gguf"), bytes);
  chat.type("/reload");
  ASSERT_TRUE(chat.waits_for_err(", loaded again\n")) << chat.err();
  chat.type("Two?");
  chat.type("/figures");
  ASSERT_TRUE(chat.waits_for_err(" tokens at ")) << chat.err();
  chat.type("/quit");
  EXPECT_EQ(chat.ended(), 0) << chat.err();
  const std::string answers = chat.out();
  EXPECT_GE(std::count(answers.begin(), answers.end(), '\n'), 2) << answers << chat.err();
}

}  // namespace
}  // namespace winnow::testing
