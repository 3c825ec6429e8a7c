// The window program's command line: what is no word of an option is refused with the words that are.
#include <gtest/gtest.h>

#include <string>

#include "tests/app/programs/cli/program_run.h"

namespace winnow::testing {
namespace {

#ifdef WINNOW_PROGRAM
void expect_refused(const std::string& arguments, const std::string& sentence) {
  const ScratchFolder scratch;
  EXPECT_EQ(shell("WINNOW_HOME=" + shell_quoted(scratch.file("home")) + " QT_QPA_PLATFORM=offscreen " + WINNOW_PROGRAM + " " + arguments +
                  " 2>" + shell_quoted(scratch.file("err"))),
            2)
      << arguments;
  const std::string said = file_text(scratch.file("err"));
  EXPECT_TRUE(said.ends_with(sentence + "\n")) << said;  // Qt may have said something before
}

TEST(WindowOptions, WordsThatAreNoneAreRefusedWithThoseThatAre) {
  expect_refused("--dtype int3", "winnow: --dtype takes auto, fp32, bf16, int8 or int4");
  expect_refused("--dtype ''", "winnow: --dtype takes auto, fp32, bf16, int8 or int4");
  expect_refused("--device gpu", "winnow: --device takes auto, cpu or cuda");
}
#endif

}  // namespace
}  // namespace winnow::testing
