// Any program that is linked to libtorch is its own proof: this test starts itself and reads what OpenMP's library saw.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/openmp_report.h"

namespace winnow::test {
namespace {

std::string this_program() { return "'" + std::filesystem::read_symlink("/proc/self/exe").string() + "' --gtest_list_tests "; }

TEST(WaitPolicy, IsPassiveUnlessTheUserSaysOtherwise) {
  const std::string report = openmp_report("", this_program());
  EXPECT_NE(report.find("OMP_WAIT_POLICY = 'PASSIVE'"), std::string::npos) << report;
  EXPECT_NE(report.find(kSleepsAtOnce), std::string::npos) << report;
}

TEST(WaitPolicy, OfTheUserStands) {
  const std::string active = openmp_report("OMP_WAIT_POLICY=ACTIVE", this_program());
  EXPECT_NE(active.find("OMP_WAIT_POLICY = 'ACTIVE'"), std::string::npos) << active;
  EXPECT_EQ(active.find(kSleepsAtOnce), std::string::npos) << active;
  const std::string spins = openmp_report("GOMP_SPINCOUNT=4000", this_program());
  EXPECT_NE(spins.find("GOMP_SPINCOUNT = '4000'"), std::string::npos) << spins;
}

TEST(WaitPolicy, ArgumentsEnvironmentAndNameAreThoseOfTheCall) {
  const std::string listed = openmp_report("GTEST_FILTER=WaitPolicy.Of*", this_program());
  EXPECT_NE(listed.find("OfTheUserStands"), std::string::npos) << listed;
  EXPECT_EQ(listed.find("ArgumentsEnvironment"), std::string::npos) << listed;
  EXPECT_STREQ(std::getenv("OMP_WAIT_POLICY"), "PASSIVE") << "this very process";
  EXPECT_EQ(std::string(program_invocation_short_name), "engine_device_test");
}

// Then the file that the process was started from is the loader's.
TEST(WaitPolicy, AProgramThatTheDynamicLoaderWasGivenStartsToo) {
  const char* loader = "/lib64/ld-linux-x86-64.so.2";
  if (::access(loader, X_OK) != 0) GTEST_SKIP() << loader << " is not on this machine";
  const std::string listed = openmp_report("", loader + (" " + this_program()));
  EXPECT_NE(listed.find("WaitPolicy."), std::string::npos) << listed;
}

}  // namespace
}  // namespace winnow::test
