// Any program that is linked to libtorch is its own proof: this test starts itself and reads what OpenMP's library saw.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/openmp_report.h"

namespace winnow::test {
namespace {

std::string this_program() { return "'" + std::filesystem::read_symlink("/proc/self/exe").string() + "' --gtest_list_tests "; }

TEST(StartSettings, WaitPolicyIsPassiveUnlessTheUserSaysOtherwise) {
  const std::string report = openmp_report("", this_program());
  EXPECT_NE(report.find("OMP_WAIT_POLICY = 'PASSIVE'"), std::string::npos) << report;
  EXPECT_NE(report.find(kSleepsAtOnce), std::string::npos) << report;
}

TEST(StartSettings, WaitPolicyOfTheUserStands) {
  const std::string active = openmp_report("OMP_WAIT_POLICY=ACTIVE", this_program());
  EXPECT_NE(active.find("OMP_WAIT_POLICY = 'ACTIVE'"), std::string::npos) << active;
  EXPECT_EQ(active.find(kSleepsAtOnce), std::string::npos) << active;
  const std::string spins = openmp_report("GOMP_SPINCOUNT=4000", this_program());
  EXPECT_NE(spins.find("GOMP_SPINCOUNT = '4000'"), std::string::npos) << spins;
}

TEST(StartSettings, ArgumentsEnvironmentAndNameAreThoseOfTheCall) {
  const std::string listed = openmp_report("GTEST_FILTER=StartSettings.*Stand*", this_program());
  EXPECT_NE(listed.find("OfTheUserStand"), std::string::npos) << listed;
  EXPECT_EQ(listed.find("ArgumentsEnvironment"), std::string::npos) << listed;
  EXPECT_STREQ(std::getenv("OMP_WAIT_POLICY"), "PASSIVE") << "this very process";
  EXPECT_EQ(std::string(program_invocation_short_name), "engine_device_test");
}

// What the next test reads of a program that it starts.
TEST(StartSettings, SayWhetherHugePagesAreAskedFor) {
  const char* const said = std::getenv("THP_MEM_ALLOC_ENABLE");
  ASSERT_NE(said, nullptr);
  std::printf("huge pages: '%s'\n", said);
}

TEST(StartSettings, HugePagesAreAskedForUnlessTheUserSaysOtherwise) {
  const std::string program = "'" + std::filesystem::read_symlink("/proc/self/exe").string() + "' --gtest_filter='*SayWhether*' ";
  const std::string own = openmp_report("-u THP_MEM_ALLOC_ENABLE", program);
  EXPECT_NE(own.find("huge pages: '1'"), std::string::npos) << own;
  EXPECT_NE(own.find(kSleepsAtOnce), std::string::npos) << own;
  const std::string users = openmp_report("THP_MEM_ALLOC_ENABLE=0", program);
  EXPECT_NE(users.find("huge pages: '0'"), std::string::npos) << users;
  EXPECT_NE(users.find(kSleepsAtOnce), std::string::npos) << "one that is set does not keep the other from being";
}

// Then the file that the process was started from is the loader's.
TEST(StartSettings, AProgramThatTheDynamicLoaderWasGivenStartsToo) {
  const char* loader = "/lib64/ld-linux-x86-64.so.2";
  if (::access(loader, X_OK) != 0) GTEST_SKIP() << loader << " is not on this machine";
  const std::string listed = openmp_report("", loader + (" " + this_program()));
  EXPECT_NE(listed.find("StartSettings."), std::string::npos) << listed;
}

}  // namespace
}  // namespace winnow::test
