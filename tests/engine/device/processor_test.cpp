#include "engine/device/processor.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace winnow {
namespace {

TEST(CpuThreads, LeaveACoreToOthersWhereThereAreFour) {
  EXPECT_EQ(threads_for(1), 1);
  EXPECT_EQ(threads_for(2), 2);
  EXPECT_EQ(threads_for(3), 3);
  EXPECT_EQ(threads_for(4), 3);
  EXPECT_EQ(threads_for(16), 15);
}

// In a process of its own: on four threads before, how many after one call, and after two.
int after_two_calls() {
  at::set_num_threads(4);
  set_default_threads();
  const int first = at::get_num_threads();
  set_default_threads();
  return 10 * first + at::get_num_threads();
}

TEST(CpuThreads, AreSetOnceInAProcess) {
  const auto by_default = [] {
    ::unsetenv("OMP_NUM_THREADS");
    ::unsetenv("MKL_NUM_THREADS");
    std::_Exit(after_two_calls());
  };
  EXPECT_EXIT(by_default(), ::testing::ExitedWithCode(33), "");
}

TEST(CpuThreads, OfTheUserStand) {
  for (const char* variable : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) {
    const auto asked = [&] {
      ::setenv(variable, "4", 1);
      std::_Exit(after_two_calls());
    };
    EXPECT_EXIT(asked(), ::testing::ExitedWithCode(44), "") << variable;
  }
}

}  // namespace
}  // namespace winnow
