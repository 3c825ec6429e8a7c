// Text of models and files on a terminal: shown, not obeyed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "program_run.h"

namespace winnow::testing {
namespace {

const std::string kTitle = "\x1b]0;title\x07";

TEST(Terminal, WhatATemplateSaysFakesNoLineAndSendsNoSequence) {
  const ScratchFolder scratch;
  std::filesystem::copy(demo("model"), scratch.file("model"), std::filesystem::copy_options::recursive);
  write_file(scratch.file("model/chat_template.jinja"), "{{ raise_exception('no" + kTitle + "\nwinnow-cli: forged line') }}");
  const ProgramRun run = run_cli(scratch, "plan --model " + shell_quoted(scratch.file("model")) + " hello");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("\nwinnow-cli: forged"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("no\\x1B]0;title"), std::string::npos) << run.err;
}

TEST(Terminal, AModelTypeDoesNeither) {
  const ScratchFolder scratch;
  write_file(scratch.file("model/config.json"), R"({"model_type": "a\u001b[2J\nwinnow-cli: forged"})");
  const ProgramRun run = run_cli(scratch, "plan --model " + shell_quoted(scratch.file("model")) + " hello");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("\nwinnow-cli: forged"), std::string::npos) << run.err;
}

// Containers without /dev/pts have none to give.
bool has_pseudo_terminals() {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) return false;
  ::close(terminal);
  return true;
}

TEST(Terminal, StdoutIsCleanOnATerminalAndUnchangedInAPipe) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << "this machine gives no pseudo-terminal: /dev/pts is not mounted";
  const ScratchFolder scratch;
  const std::string name = "sample" + std::string("\x1b[2J") + ".mp4";
  std::filesystem::copy(demo("samples/ten-seconds.mp4"), scratch.file(name));
  EXPECT_NE(run_cli(scratch, "probe " + shell_quoted(scratch.file(name))).out.find("\x1b[2J"), std::string::npos);
  // `script` (bsdutils) runs a command on a terminal of its own.
  write_file(scratch.file("probe.sh"), std::string(WINNOW_CLI_PROGRAM) + " probe " + shell_quoted(scratch.file(name)) + "\n");
  ASSERT_EQ(shell("script -qec 'sh " + scratch.file("probe.sh") + "' /dev/null >" + shell_quoted(scratch.file("terminal")) + " </dev/null"),
            0);
  const std::string shown = file_text(scratch.file("terminal"));
  EXPECT_NE(shown.find("sample\\x1B[2J.mp4: video"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("\x1b[2J"), std::string::npos) << shown;
}

TEST(Terminal, APasswordIsAskedForWithoutAnEcho) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << "this machine gives no pseudo-terminal: /dev/pts is not mounted";
  const ScratchFolder scratch;
  const std::string paper = source_folder() + "/tests/app/media/papers/samples/encrypted.pdf";
  write_file(scratch.file("probe.sh"), std::string(WINNOW_CLI_PROGRAM) + " probe " + shell_quoted(paper) + "\n");
  // The second line is typed when the first has been refused: what comes before the question is thrown away.
  const auto typed = [&](const std::string& line) {
    return "until grep -c Password " + scratch.file("terminal") + " | grep -q " + line.substr(0, 1) + "; do sleep 0.05; done; printf '" +
           line.substr(2) + "\\n'; ";
  };
  write_file(scratch.file("typing.sh"), typed("1 guess") + typed("2 secretx\\177"));
  write_file(scratch.file("terminal"), "");
  const std::string run = "sh " + scratch.file("typing.sh") + " | timeout 60 script -qefc 'sh " + scratch.file("probe.sh") +
                          "' /dev/null >" + scratch.file("terminal");
  EXPECT_EQ(shell(run), 0);
  const std::string shown = file_text(scratch.file("terminal"));
  EXPECT_NE(shown.find("This is not its password."), std::string::npos) << shown;
  EXPECT_NE(shown.find("1 page, "), std::string::npos) << shown;
  EXPECT_TRUE(shown.find("guess") == std::string::npos && shown.find("secret") == std::string::npos) << shown;
}

}  // namespace
}  // namespace winnow::testing
