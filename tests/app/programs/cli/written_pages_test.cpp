// What the program writes about its own commands: completion scripts and the manual page.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/app/programs/cli/command_run.h"
#include "tests/structure/command_output.h"

namespace winnow::testing {
namespace {

// The words that bash would offer, the last of `words` being typed.
std::string offered(const ScratchFolder& scratch, const std::string& words) {
  const ProgramRun script = run_command(scratch, "completion bash");
  EXPECT_EQ(script.exit_code, 0) << script.err;
  const std::string commands = ". " + shell_quoted(scratch.file("out")) + " && COMP_WORDS=(winnow-cli " + words +
                               ") && COMP_CWORD=$((${#COMP_WORDS[@]}-1)) && _winnow_cli && echo ${COMPREPLY[*]}";
  const CommandOutput said = output_of("bash -c " + shell_quoted(commands));
  EXPECT_EQ(said.status, 0) << said.text;
  return said.text;
}

TEST(CliCompletion, OffersCommandsOptionsAndWords) {
  const ScratchFolder scratch;
  EXPECT_EQ(offered(scratch, "pre"), "prepare\n");
  EXPECT_EQ(offered(scratch, "--vers"), "--version\n");
  EXPECT_EQ(offered(scratch, "ask --device c"), "cpu cuda\n");
  EXPECT_EQ(offered(scratch, "ask --device cpu --mmp"), "--mmproj\n");
  EXPECT_EQ(offered(scratch, "completion \"\""), "\n") << "what it has no words for is left to bash, which knows the files";
  EXPECT_EQ(offered(scratch, "ask --model \"\""), "\n");
}

TEST(CliCompletion, KnowsEveryCommandOfHelpInBothShells) {
  const ScratchFolder scratch;
  const std::string bash = run_command(scratch, "completion bash").out;
  const std::string zsh = run_command(scratch, "completion zsh").out;
  std::istringstream help(run_command(scratch, "--help").out);
  int commands = 0;
  bool listed = false;
  for (std::string line; std::getline(help, line);) {
    if (listed && !line.empty()) {
      const std::string name = line.substr(2, line.find(' ', 2) - 2);
      EXPECT_NE(bash.find("      " + name + ") words="), std::string::npos) << name;
      EXPECT_NE(zsh.find("      " + name + ") _arguments"), std::string::npos) << name;
      ++commands;
    }
    listed = listed || line == "Subcommands:";
  }
  EXPECT_GT(commands, 10);
  EXPECT_EQ(run_command(scratch, "completion fish").exit_code, 2);
}

TEST(CliManual, HasEveryOptionAsItIsTyped) {
  const ScratchFolder scratch;
  const std::string page = run_command(scratch, "manual").out;
  EXPECT_TRUE(page.starts_with(".TH WINNOW\\-CLI 1 "));
  std::istringstream help(run_command(scratch, "ask --help").out);
  for (std::string line; std::getline(help, line);) {
    if (!line.starts_with("  --")) continue;
    std::string set;
    for (const char c : line.substr(2, line.find(' ', 2) - 2)) set += c == '-' ? std::string("\\-") : std::string(1, c);
    EXPECT_NE(page.find("\\fB" + set + "\\fR"), std::string::npos) << line;
  }
  // A line that begins so is a request to man: only those that we write.
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const bool ours = line.starts_with(".TH ") || line.starts_with(".S") || line == ".TP" || line.starts_with(".B");
    EXPECT_TRUE(ours || !line.starts_with(".")) << line;
    EXPECT_FALSE(line.starts_with("'")) << line;
  }
}

}  // namespace
}  // namespace winnow::testing
