// The OpenMP threads of both programs, where the engine is in them, sleep while they wait, without the user setting anything.
#include <gtest/gtest.h>

#include <string>

#include "tests/app/programs/cli/program_run.h"
#include "tests/support/openmp_report.h"

namespace winnow::testing {
namespace {

void sleeps_unless_told_otherwise(const std::string& program) {
  const ScratchFolder scratch;
  const std::string settings = "QT_QPA_PLATFORM=offscreen WINNOW_HOME=" + shell_quoted(scratch.file("home"));
  const std::string command = shell_quoted(program) + " --version";
  const std::string report = test::openmp_report(settings, command);
  EXPECT_NE(report.find(test::kSleepsAtOnce), std::string::npos) << report;
  const std::string active = test::openmp_report(settings + " OMP_WAIT_POLICY=ACTIVE", command);
  EXPECT_NE(active.find("OMP_WAIT_POLICY = 'ACTIVE'"), std::string::npos) << active;
  EXPECT_EQ(active.find(test::kSleepsAtOnce), std::string::npos) << active;
}

TEST(WaitPolicy, TheTerminalSleepsUnlessTheUserSaysOtherwise) { sleeps_unless_told_otherwise(WINNOW_CLI_WITH_ENGINE); }

#ifdef WINNOW_PROGRAM
TEST(WaitPolicy, TheWindowSleepsUnlessTheUserSaysOtherwise) { sleeps_unless_told_otherwise(WINNOW_PROGRAM_WITH_ENGINE); }
#endif

}  // namespace
}  // namespace winnow::testing
