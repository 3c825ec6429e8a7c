// What the programs keep belongs to their user alone, also where an earlier version left it open to everybody.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/app/ground/process/running_program.h"
#include "tests/app/programs/cli/program_run.h"

namespace winnow::testing {
namespace {

namespace fs = std::filesystem;

// As the versions before made them, on a machine with the usual umask.
void make_open(const fs::path& file) {
  write_file(file, "");
  for (fs::path each = file; each.filename() != "home"; each = each.parent_path()) {
    fs::permissions(each, each == file ? fs::perms(0644) : fs::perms(0755));
  }
}

// Nobody else can enter the folders or read a file. A database's journal may go while they are looked through.
void expect_private(const fs::path& folder) {
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms(0700)) << folder;
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const fs::file_status status = entry.symlink_status();
    if (!fs::exists(status)) continue;
    const fs::perms others = status.permissions() & (fs::perms::group_all | fs::perms::others_all);
    EXPECT_EQ(others, fs::perms::none) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 0) << folder;
}

TEST(PrivateFiles, TheTerminalMakesAndMendsThem) {
  const ScratchFolder scratch;
  make_open(scratch.file("home/cache/thumbnails/ab/abc.png"));
  ASSERT_EQ(shell("umask 022; mkdir -p " + shell_quoted(scratch.file("home"))), 0);
  ASSERT_EQ(run_cli(scratch, "ask --max-tokens 2 hello").exit_code, 0);
  EXPECT_TRUE(fs::exists(scratch.file("home/cache/speed.json")));
  expect_private(scratch.file("home/cache"));
}

TEST(PrivateFiles, NotMendedIsWhatALinkPointsTo) {
  const ScratchFolder scratch;
  make_open(scratch.file("home/cache/old.png"));
  write_file(scratch.file("elsewhere/public.txt"), "for everybody");
  fs::permissions(scratch.file("elsewhere/public.txt"), fs::perms(0644));
  fs::permissions(scratch.file("elsewhere"), fs::perms(0755));
  fs::create_symlink(scratch.file("elsewhere/public.txt"), scratch.file("home/cache/file"));
  fs::create_directory_symlink(scratch.file("elsewhere"), scratch.file("home/cache/folder"));
  ASSERT_EQ(run_cli(scratch, "methods").exit_code, 0);
  EXPECT_EQ(fs::status(scratch.file("home/cache/old.png")).permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(scratch.file("elsewhere/public.txt")).permissions(), fs::perms(0644));
  EXPECT_EQ(fs::status(scratch.file("elsewhere")).permissions(), fs::perms(0755));
}

#ifdef WINNOW_PROGRAM
TEST(PrivateFiles, TheWindowMakesAndMendsThem) {
  const ScratchFolder scratch;
  make_open(scratch.file("home/data/winnow.db"));  // empty: a first start that was cut off
  make_open(scratch.file("home/data/pasted/picture.png"));
  make_open(scratch.file("home/cache/thumbnails/ab/abc.png"));
  make_open(scratch.file("home/state/winnow.log"));
  const RunningProgram program(scratch, std::string("QT_QPA_PLATFORM=offscreen ") + WINNOW_PROGRAM);
  ASSERT_TRUE(RunningProgram::wait_for([&] {
    return fs::file_size(scratch.file("home/data/winnow.db")) > 0 && fs::file_size(scratch.file("home/state/winnow.log")) > 0;
  })) << file_text(scratch.file("err"));
  for (const char* folder : {"home/data", "home/cache", "home/state"}) expect_private(scratch.file(folder));
}

TEST(PrivateFiles, TheWindowsFirstStartMakesThemPrivate) {
  const ScratchFolder scratch;
  const RunningProgram program(scratch, std::string("QT_QPA_PLATFORM=offscreen ") + WINNOW_PROGRAM);
  const auto bytes = [&](const char* file) {
    std::error_code missing;
    const auto size = fs::file_size(scratch.file(file), missing);
    return missing ? 0 : size;
  };
  ASSERT_TRUE(RunningProgram::wait_for([&] { return bytes("home/data/winnow.db") > 0 && bytes("home/state/winnow.log") > 0; }))
      << file_text(scratch.file("err"));
  for (const char* folder : {"home/data", "home/state"}) expect_private(scratch.file(folder));
}
#endif

// Pipes and devices where the programs' own files belong: none of them may stop a program.
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

// Started in a folder that is gone.
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
