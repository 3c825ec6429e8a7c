// `eval` that is killed half way and started again.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/app/cli/eval_questions.h"
#include "tests/app/cli/program_run.h"

namespace winnow::testing {
namespace {

const std::string kArguments = " --agreement --methods full,vl-cache,random --retentions 0.5 --seeds 0,1 --max-tokens 10 --data ";

TEST(Eval, AKilledRunGoesOnToTheSameResults) {
  const ScratchFolder scratch;
  write_file(scratch.file("set.jsonl"), eval_questions());
  const std::string data = shell_quoted(scratch.file("set.jsonl"));
  const ProgramRun whole = run_cli(scratch, "eval --out " + shell_quoted(scratch.file("whole")) + kArguments + data);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(lines_in(scratch.file("whole/set.jsonl")), 1 + 6 * 5);

  // Killed as soon as some answers are logged; every time a little later.
  const std::string log = scratch.file("killed/set.jsonl");
  const std::string command = std::string("'") + WINNOW_CLI_PROGRAM + "' eval --out " + shell_quoted(scratch.file("killed")) + kArguments +
                              data + " >/dev/null 2>&1 </dev/null & echo $! >" + shell_quoted(scratch.file("pid"));
  for (const long enough : {3L, 16L}) {
    ASSERT_EQ(shell(command), 0);
    const pid_t pid = std::stoi(file_text(scratch.file("pid")));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    while (lines_in(log) < enough && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::kill(pid, SIGKILL);
    while (::kill(pid, 0) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ASSERT_GE(lines_in(log), enough);
    ASSERT_LT(lines_in(log), 1 + 6 * 5) << "was not killed half way";
  }
  const ProgramRun resumed = run_cli(scratch, "eval --out " + shell_quoted(scratch.file("killed")) + kArguments + data);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.out, whole.out);
  for (const char* name : {"set.jsonl", "set.run.json"}) {
    EXPECT_EQ(file_text(scratch.file(std::string("killed/") + name)), file_text(scratch.file(std::string("whole/") + name))) << name;
  }
}

}  // namespace
}  // namespace winnow::testing
