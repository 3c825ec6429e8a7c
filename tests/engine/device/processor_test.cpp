#include "engine/device/processor.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/device/free_memory.h"
#include "tests/support/expect_error.h"

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

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(ModelRoom, TheOldModelStaysWhereBothFit) {
  EXPECT_EQ(room_for_model(100, 100, 50, "m"), ModelRoom::kBoth);
  EXPECT_EQ(room_for_model(101, 100, 50, "m"), ModelRoom::kAfterFreeing);
  EXPECT_EQ(room_for_model(150, 100, 50, "m"), ModelRoom::kAfterFreeing);
  EXPECT_EQ(room_for_model(UINT64_MAX, 0, 50, "m"), ModelRoom::kBoth) << "nobody can say how much is free";
}

TEST(ModelRoom, AModelThatDoesNotFitIsRefusedWithTheSizes) {
  test::expect_error(ErrorCode::kOutOfMemory, "its weights need 30 MiB and 10 MiB are free",
                     [] { room_for_model(30 * kMiB, 10 * kMiB, 0, "/models/large"); });
  test::expect_error(ErrorCode::kOutOfMemory, "30 MiB and 15 MiB are free with the 5 MiB of the model that is loaded",
                     [] { room_for_model(30 * kMiB, 10 * kMiB, 5 * kMiB, "/models/large"); });
  EXPECT_THROW(room_for_model(UINT64_MAX, 1, UINT64_MAX - 2, "m"), Exception) << "sums that pass 64 bits";
}

}  // namespace
}  // namespace winnow
