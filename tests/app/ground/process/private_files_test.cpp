// What the programs keep belongs to their user alone, also where an earlier version left it open to everybody.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/ground/process/running_program.h"

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

}  // namespace
}  // namespace winnow::testing
