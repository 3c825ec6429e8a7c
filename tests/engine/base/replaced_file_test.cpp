#include "engine/base/replaced_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

long entries(const std::string& folder) { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); }

void write(const std::string& path, const std::string& text) {
  ReplacedFile file(path);
  file.write(text);
  file.commit();
}

TEST(ReplacedFile, StandsThereWholeOrNotAtAll) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("a", "old");
  {
    ReplacedFile file(path);
    file.write("new");
    EXPECT_EQ(text_of(path), "old");
  }
  EXPECT_EQ(text_of(path), "old") << "not committed";
  EXPECT_EQ(entries(scratch.path()), 1) << "and nothing is left behind";
  write(path, "new");
  EXPECT_EQ(text_of(path), "new");
  write(scratch.file("b"), "first");
  EXPECT_EQ(text_of(scratch.file("b")), "first");
  EXPECT_EQ(entries(scratch.path()), 2);
}

// A process that has ended.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST(ReplacedFile, WhatAKilledProcessLeftIsRemoved) {
  const ScratchFolder scratch;
  const std::string gone = std::to_string(ended_process()), lives = std::to_string(::getppid());
  const std::set<std::string> own = {"a." + gone + "-0.part", "a." + gone + "-12.part"};
  const std::set<std::string> others = {"a",
                                        "b." + gone + "-0.part",
                                        "a." + lives + "-0.part",
                                        "a." + gone + ".part",
                                        "a." + gone + "-x.part",
                                        "a." + gone + "-0.part.txt",
                                        "a.-0.part",
                                        "a.part"};
  const auto names = [&] {
    std::set<std::string> all;
    for (const fs::directory_entry& entry : fs::directory_iterator(scratch.path())) all.insert(entry.path().filename().string());
    return all;
  };
  const auto make = [&] {
    for (const std::string& name : own) scratch.write(name, "half");
    for (const std::string& name : others) scratch.write(name, "whole");
  };
  make();
  write(scratch.file("a"), "new");
  EXPECT_EQ(names(), others) << "when the file is written again";
  make();
  fs::create_symlink("a", scratch.file("link"));
  remove_unfinished(scratch.file("link"));
  fs::remove(scratch.file("link"));
  EXPECT_EQ(names(), others);
  make();
  remove_unfinished(scratch.path() + "/");
  EXPECT_FALSE(fs::exists(scratch.file("b." + gone + "-0.part"))) << "of every file in it";
  EXPECT_EQ(names().size(), others.size() - 1);
  remove_unfinished(scratch.file("nowhere/"));
}

TEST(ReplacedFile, KeepsPermissionsAndFollowsLinks) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("a", "old");
  fs::permissions(path, fs::perms(0640));
  fs::create_symlink("a", scratch.file("link"));
  write(scratch.file("link"), "new");
  EXPECT_TRUE(fs::is_symlink(scratch.file("link")));
  EXPECT_EQ(text_of(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
}

TEST(ReplacedFile, RefusesWhatIsNoRegularFileBeforeAnythingIsMade) {
  const ScratchFolder scratch;
  fs::create_directory(scratch.file("folder"));
  ASSERT_EQ(::mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/null", scratch.file("device"));
  fs::create_symlink("nothing", scratch.file("nowhere"));
  const std::pair<std::string, std::string> cases[] = {{"folder", "it is a folder"},
                                                       {"pipe", "not a regular file"},
                                                       {"device", "not a regular file"},
                                                       {"nowhere", "leads nowhere"},
                                                       {"none/a", "No such file"}};
  for (const auto& [name, reason] : cases) {
    expect_error(ErrorCode::kFileUnreadable, reason, [&] { require_replaceable(scratch.file(name)); });
    expect_error(ErrorCode::kFileUnreadable, reason, [&] { ReplacedFile file(scratch.file(name)); });
  }
  expect_error(ErrorCode::kFileUnreadable, "not a file name", [] { require_replaceable(""); });
  EXPECT_EQ(entries(scratch.path()), 4);
  EXPECT_NO_THROW(require_replaceable(scratch.file("new")));
}

TEST(ReplacedFile, AFullDiskLeavesNothingBehind) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("a", "old");
  // A limit on the size of files stands for the full disk.
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 1000, before.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string problem;
  try {
    write(path, std::string(100'000, 'x'));
  } catch (const Exception& exception) {
    problem = exception.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(problem, path + ": it cannot be written (File too large)");
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(entries(scratch.path()), 1);
}

TEST(ReplacedFile, KnowsTwoNamesOfOneFile) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("a", "x");
  fs::create_symlink("a", scratch.file("link"));
  fs::create_hard_link(path, scratch.file("hard"));
  scratch.write("b", "x");
  EXPECT_TRUE(same_file(path, scratch.file("link")));
  EXPECT_TRUE(same_file(path, scratch.file("hard")));
  EXPECT_FALSE(same_file(path, scratch.file("b")));
  EXPECT_FALSE(same_file(scratch.file("none"), scratch.file("none")));
}

}  // namespace
}  // namespace winnow::test
