// Signals and limits that whoever started the program has set.
#include <gtest/gtest.h>

#include <string>

#include "tests/app/ground/process/running_program.h"
#include "tests/app/programs/cli/program_run.h"
#include "tests/support/openmp_report.h"

namespace winnow::testing {
namespace {

// The signals that a process ignores, one bit each (SigIgn of proc(5)).
std::uint64_t ignored_signals(pid_t pid) {
  const std::string status = file_text("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.find("SigIgn:\t");
  return at == std::string::npos ? 0 : std::stoull(status.substr(at + 8, 16), nullptr, 16);
}

TEST(Signals, AJobThatIgnoresInterruptsStillDoesBetweenRequests) {
  const ScratchFolder scratch;
  ASSERT_EQ(::mkfifo(scratch.file("questions").c_str(), 0600), 0);
  // A shell starts jobs in the background with SIGINT ignored; RunningProgram does it so.
  const RunningProgram program(scratch, std::string(WINNOW_CLI_PROGRAM) + " chat --max-tokens 2 <>" + scratch.file("questions"));
  // Loading the model was a request with a handler of its own; the greeting comes after it.
  ASSERT_TRUE(RunningProgram::wait_for([&] { return file_text(scratch.file("err")).find("/help") != std::string::npos; }));
  const std::uint64_t interrupt = std::uint64_t{1} << (SIGINT - 1);
  EXPECT_TRUE(RunningProgram::wait_for([&] { return (ignored_signals(program.pid()) & interrupt) != 0; }));
  ::kill(program.pid(), SIGINT);
  std::ofstream(scratch.file("questions")) << "Hello?\n";
  EXPECT_TRUE(RunningProgram::wait_for([&] { return !file_text(scratch.file("out")).empty(); })) << "was ended by the signal";
  EXPECT_TRUE(program.alive());
}

TEST(Signals, AFileThatGrowsBeyondALimitIsAnErrorAndLeavesNothing) {
  const ScratchFolder scratch;
  const std::string out = shell_quoted(scratch.file("exports/run.safetensors"));
  ASSERT_EQ(shell("mkdir " + shell_quoted(scratch.file("exports"))), 0);
  const int status = shell("ulimit -f 4; WINNOW_HOME=" + shell_quoted(scratch.file("home")) + " '" + WINNOW_CLI_PROGRAM +
                           "' export --max-tokens 2 --out " + out + " hello 2>" + shell_quoted(scratch.file("err")));
  EXPECT_EQ(status, 1);
  EXPECT_NE(file_text(scratch.file("err")).find("run.safetensors: it cannot be written (File too large)"), std::string::npos)
      << file_text(scratch.file("err"));
  EXPECT_TRUE(std::filesystem::is_empty(scratch.file("exports")));
}

// Frames come from their reader in memory that the kernel counts as a file.
TEST(Signals, FramesThatMayNotBePassedOnAreRefusedByTheLimitsName) {
  const ScratchFolder scratch;
  const int status =
      shell("ulimit -f 4; WINNOW_HOME=" + shell_quoted(scratch.file("home")) + " '" + WINNOW_CLI_PROGRAM + "' ask --max-tokens 2 --video " +
            shell_quoted(demo("samples/ten-seconds.mp4")) + " --frames 2 hello 2>" + shell_quoted(scratch.file("err")));
  EXPECT_EQ(status, 1);
  EXPECT_NE(file_text(scratch.file("err")).find("ulimit -f"), std::string::npos) << file_text(scratch.file("err"));
}

TEST(Signals, TooLittleMemoryToStartIsASentence) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer reserves terabytes of address space";
#endif
  const ScratchFolder scratch;
  // How much address space the libraries take differs from machine to machine: from too little for the loader to enough.
  bool said = false;
  int crashes = 0;  // of libtorch's initialisers: oneDNN's attributes are copied unchecked, which a stretch of 4 MB hits
  for (int megabytes = 300; megabytes <= 1200; megabytes += 50) {
    const int status = shell("ulimit -v " + std::to_string(megabytes * 1024) + "; OMP_NUM_THREADS=1 '" + WINNOW_CLI_WITH_ENGINE +
                             "' --version >/dev/null 2>" + shell_quoted(scratch.file("err")));
    const std::string err = file_text(scratch.file("err"));
    if (status == 127 && err.find("error while loading shared libraries") != std::string::npos) continue;  // the system's loader
    if (status == 0) break;
    constexpr int kSegmentationFault = 128 + 11;
    if (status == kSegmentationFault && ++crashes == 1) continue;
    EXPECT_EQ(status, 3) << megabytes << " MB: " << err;
    EXPECT_NE(err.find("not enough memory"), std::string::npos) << megabytes << " MB: " << err;
    said = true;
  }
  if (!said) GTEST_SKIP() << "no limit between the loader's failure and success was met";
}

// The OpenMP threads of both programs, where the engine is in them, sleep while they wait, without the user setting anything.
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

// The window program's command line: what is no word of an option is refused with the words that are.
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
