// Started in a folder that is gone.
#include <gtest/gtest.h>

#include "tests/app/programs/cli/program_run.h"

namespace winnow::testing {
namespace {

void refused_in_a_deleted_folder(const std::string& program) {
  const ScratchFolder scratch;
  const std::string gone = shell_quoted(scratch.file("gone"));
  EXPECT_EQ(shell("mkdir " + gone + " && cd " + gone + " && rmdir " + gone + " && HOME=" + shell_quoted(scratch.path()) +
                  " QT_QPA_PLATFORM=offscreen " + program + " >" + shell_quoted(scratch.file("out")) + " 2>" +
                  shell_quoted(scratch.file("err")) + " </dev/null"),
            1);
  const std::string said = file_text(scratch.file("err"));
  EXPECT_NE(said.find("the folder that the program was started in does not exist any more"), std::string::npos) << said;
  EXPECT_EQ(file_text(scratch.file("out")), "");
}

TEST(DeletedFolder, TheTerminalSaysSo) { refused_in_a_deleted_folder(std::string(WINNOW_CLI_PROGRAM) + " ask --max-tokens 2 hello"); }

#ifdef WINNOW_PROGRAM
TEST(DeletedFolder, TheWindowSaysSo) { refused_in_a_deleted_folder(WINNOW_PROGRAM); }
#endif

}  // namespace
}  // namespace winnow::testing
