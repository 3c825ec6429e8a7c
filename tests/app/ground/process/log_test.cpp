// What the window's log says of a fault that ends in a notice.
#include <gtest/gtest.h>

#include "tests/app/ground/process/running_program.h"

namespace winnow::testing {
namespace {

#ifdef WINNOW_PROGRAM
TEST(WindowLog, NamesTheFaultOfChatsThatDoNotOpenAndNoPath) {
  const ScratchFolder scratch;
  write_file(scratch.file("home/data/winnow.db"), std::string(5000, 'x'));
  const RunningProgram program(scratch, std::string("QT_QPA_PLATFORM=offscreen ") + WINNOW_PROGRAM);
  const auto log = [&] { return file_text(scratch.file("home/state/winnow.log")); };
  ASSERT_TRUE(RunningProgram::wait_for([&] { return log().find(" error chats code ") != std::string::npos; })) << log();
  EXPECT_EQ(log().find(scratch.file("home")), std::string::npos) << log();
}
#endif

}  // namespace
}  // namespace winnow::testing
