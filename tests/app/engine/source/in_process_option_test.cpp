// `--in-process`, in a program whose engine is a process of its own: this one, copied into a folder where another may lie beside it.
#include "app/engine/source/in_process_option.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "app/engine/source/engine_source.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"

namespace winnow::app {

EnginePlace ownEnginePlace() { return EnginePlace::kWorkerProcess; }

namespace {

class InProcessOption : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::copy_file("/proc/self/exe", program()); }
  std::string program() const { return scratch_.file("asks"); }
  void lieBeside(const std::string& script) const {
    test::write_file(scratch_.file("asks-in-process"), "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(scratch_.file("asks-in-process"), std::filesystem::perms::owner_all);
  }
  // The exit status; what it wrote is in out().
  int start(const std::string& arguments) const {
    return test::shell(test::shell_quoted(program()) + " " + arguments + " >" + test::shell_quoted(scratch_.file("out")) + " 2>&1");
  }
  std::string out() const { return test::file_text(scratch_.file("out")); }

 private:
  test::ScratchFolder scratch_;
};

TEST_F(InProcessOption, TheProgramBesideTakesItsPlaceWithTheSameArguments) {
  lieBeside("echo \"$#:$*:$(basename \"$0\")\"; exit 7");
  EXPECT_EQ(start("--in-process ask 'two words'"), 7);
  EXPECT_EQ(out(), "3:--in-process ask two words:asks-in-process\n");
  EXPECT_EQ(start("ask --in-process"), 7);
  EXPECT_EQ(out(), "2:ask --in-process:asks-in-process\n");
}

TEST_F(InProcessOption, WithoutItTheProgramGoesOn) {
  lieBeside("exit 7");
  EXPECT_EQ(start("--gtest_list_tests"), 0);
  EXPECT_EQ(start("--gtest_list_tests -- --in-process"), 0) << "behind -- it is no option";
}

TEST_F(InProcessOption, AProgramThatIsMissingIsNamed) {
  EXPECT_EQ(start("--in-process ask"), 1);
  EXPECT_NE(out().find("asks-in-process, which runs the engine in the program itself, cannot be started"), std::string::npos) << out();
}

}  // namespace
}  // namespace winnow::app

int main(int argc, char** argv) {
  winnow::app::followInProcessOption(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
