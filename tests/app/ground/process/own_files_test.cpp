// Pipes and devices where the programs' own files belong: none of them may stop a program.
#include <gtest/gtest.h>

#include "tests/app/ground/process/running_program.h"

namespace winnow::testing {
namespace {

namespace fs = std::filesystem;

TEST(OwnFiles, SpeedFigures) {
  const ScratchFolder scratch;
  fs::create_directories(scratch.file("home/cache"));
  const std::string file = scratch.file("home/cache/speed.json");
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(run_cli(scratch, "ask --max-tokens 2 hello").exit_code, 0);
  fs::remove(file);
  fs::create_symlink("/dev/zero", file);
  EXPECT_EQ(run_cli(scratch, "ask --max-tokens 2 hello").exit_code, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/zero"));
}

TEST(OwnFiles, ARecipe) {
  const ScratchFolder scratch;
  ASSERT_EQ(::mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  const ProgramRun recipe = run_cli(scratch, "plan --recipe " + shell_quoted(scratch.file("pipe")) + " hello");
  EXPECT_EQ(recipe.exit_code, 1);
  EXPECT_NE(recipe.err.find("pipe: it is not a regular file"), std::string::npos) << recipe.err;
}

#ifdef WINNOW_PROGRAM
TEST(OwnFiles, TheWindowsLog) {
  const ScratchFolder scratch;
  fs::create_directories(scratch.file("home/state"));
  ASSERT_EQ(::mkfifo(scratch.file("home/state/winnow.log").c_str(), 0600), 0);
  const RunningProgram program(scratch, std::string("QT_QPA_PLATFORM=offscreen ") + WINNOW_PROGRAM);
  EXPECT_TRUE(RunningProgram::wait_for([&] {
    std::error_code missing;
    return fs::file_size(scratch.file("home/data/winnow.db"), missing) > 0 && !missing;
  })) << file_text(scratch.file("err"));
}
#endif

}  // namespace
}  // namespace winnow::testing
