// What cannot be written to stdout is an error, not a success without output.
#include <gtest/gtest.h>

#include "tests/app/programs/cli/program_run.h"

namespace winnow::testing {
namespace {

// redirection: of stdout. Returns exit code and stderr.
ProgramRun run_to(const ScratchFolder& scratch, const std::string& arguments, const std::string& redirection) {
  ProgramRun run;
  run.exit_code = shell("WINNOW_HOME='" + scratch.file("home") + "' '" + WINNOW_CLI_PROGRAM + "' " + arguments + " " + redirection +
                        " 2>'" + scratch.file("err") + "' </dev/null");
  run.err = file_text(scratch.file("err"));
  return run;
}

std::string batch_of(const ScratchFolder& scratch, int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "{\"questions\": [\"Hello?\"], \"max_tokens\": 2}\n";
  write_file(scratch.file("questions.jsonl"), text);
  return "batch " + shell_quoted(scratch.file("questions.jsonl"));
}

TEST(StandardOutput, AFullDeviceEndsEveryCommandWithOne) {
  const ScratchFolder scratch;
  for (const std::string& command :
       {std::string("--help"), std::string("methods"), std::string("methods --json"),
        "probe " + shell_quoted(demo("samples/ten-seconds.mp4")), std::string("plan hello"), std::string("ask --max-tokens 2 hello"),
        std::string("ask --json --max-tokens 2 hello"), std::string("compare --method full --max-tokens 2 hello"), batch_of(scratch, 2)}) {
    const ProgramRun run = run_to(scratch, command, ">/dev/full");
    EXPECT_EQ(run.exit_code, 1) << command;
    EXPECT_NE(run.err.find("standard output: No space left on device"), std::string::npos) << command << ": " << run.err;
  }
}

TEST(StandardOutput, ChatEndsToo) {
  const ScratchFolder scratch;
  ProgramRun run;
  run.exit_code = shell("printf 'hello\\nand?\\n' | WINNOW_HOME='" + scratch.file("home") + "' '" + WINNOW_CLI_PROGRAM +
                        "' chat --max-tokens 2 >/dev/full 2>'" + scratch.file("err") + "'");
  EXPECT_EQ(run.exit_code, 1) << file_text(scratch.file("err"));
}

TEST(StandardOutput, AClosedOneIsNoOtherFile) {
  const ScratchFolder scratch;
  const ProgramRun plain = run_to(scratch, "methods", ">&-");
  EXPECT_EQ(plain.exit_code, 1) << plain.err;
  EXPECT_NE(plain.err.find("standard output"), std::string::npos) << plain.err;
}

}  // namespace
}  // namespace winnow::testing
