// What people are told to type depends on where the program lies.
#include "app/programs/cli/program_call.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.h"

namespace winnow::cli {
namespace {

namespace fs = std::filesystem;

class ProgramCall : public ::testing::Test {
 protected:
  void file(const std::string& name) {
    fs::create_directories(fs::path(scratch.file(name)).parent_path());
    std::ofstream(scratch.file(name)) << "x";
  }
  test::ScratchFolder scratch;
};

TEST_F(ProgramCall, InstalledItIsTheProgramItself) {
  file("usr/bin/winnow");
  file("usr/bin/winnow-cli");
  fs::create_directories(scratch.file("usr/lib/winnow"));
  EXPECT_EQ(program_call_in(scratch.file("usr/bin"), "get"), "winnow-cli get");
  EXPECT_EQ(program_call_in(scratch.file("usr/bin"), "ask"), "winnow-cli ask");
}

TEST_F(ProgramCall, InASourceTreeItIsTheLauncher) {
  file("tree/winnow");
  file("tree/CMakeLists.txt");
  file("tree/build/release/bin/winnow-cli");
  EXPECT_EQ(program_call_in(scratch.file("tree/build/release/bin"), "get"), "./winnow get");
  EXPECT_EQ(program_call_in(scratch.file("tree/build/release/bin"), "ask"), "./winnow cli ask");
}

TEST_F(ProgramCall, InATarballItIsTheStartScript) {
  file("winnow-1/winnow");
  file("winnow-1/bin/winnow-cli");
  EXPECT_EQ(program_call_in(scratch.file("winnow-1/bin"), "get"), "./winnow cli get");
}

}  // namespace
}  // namespace winnow::cli
