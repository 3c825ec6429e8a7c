// What an attacker who runs code in the media process cannot do: each is tried from inside, and outside to know that the try is one.
#include "app/media/process/media_sandbox.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "app/ground/worker/worker_process.h"
#include "app/media/process/kernel_sandbox.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

constexpr int kRefused = 0, kDone = 1;

class MediaSandbox : public testing::TestWithParam<const char*> {
 protected:
  WorkerEnd tried(const char* what, const char* where) {
    const std::string file = m_folder.path() + "/own";
    std::ofstream(file) << "text";
    WorkerProcess probe(workerProgram("media_sandbox_probe"), {what, file, where});
    return probe.end(std::chrono::seconds(30));
  }

 private:
  test::ScratchFolder m_folder;
};

bool refused(const WorkerEnd& end) {
  return (end.kind == WorkerEnd::Kind::kExited && end.code == kRefused) || (end.kind == WorkerEnd::Kind::kSignal && end.code == SIGSYS);
}

TEST_P(MediaSandbox, Refuses) {
  EXPECT_TRUE(refused(tried(GetParam(), "inside"))) << "it was let through";
  const WorkerEnd outside = tried(GetParam(), "free");
  EXPECT_EQ(outside.kind, WorkerEnd::Kind::kExited);
  EXPECT_EQ(outside.code, kDone) << "the try does not work outside, so it says nothing";
}

INSTANTIATE_TEST_SUITE_P(Tries, MediaSandbox,
                         testing::Values("open", "open-own", "create", "look", "remove", "rename", "write-medium", "write-medium-again",
                                         "internet", "datagram", "local-socket", "fork", "raw-clone", "run", "run-from-memory", "trace",
                                         "read-memory-by-number", "signal-parent", "raise-limit", "executable-memory", "much-memory",
                                         "many-files", "change-folder", "unset-death-signal"),
                         [](const auto& each) {
                           std::string name(each.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(MediaSandbox, EndsWithItsParentWhateverRunsInIt) {
  WorkerProcess parent(workerProgram("media_sandbox_probe"), {"parent", "own"});
  const auto told = parent.channel().receive(std::chrono::seconds(60));
  ASSERT_TRUE(told && told->bytes.size() == sizeof(pid_t));
  EXPECT_EQ(told->kind, 0U) << "it took the signal back";
  pid_t pid = -1;
  std::memcpy(&pid, told->bytes.data(), sizeof pid);
  const OpenFile child(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  ASSERT_TRUE(child);
  pollfd gone{child.descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&gone, 1, 0), 0) << "it lives as long as its parent";
  parent.end(std::chrono::milliseconds(0));
  EXPECT_EQ(::poll(&gone, 1, 30'000), 1) << "it is still there";
}

TEST_F(MediaSandbox, HasNothingOfTheUsersEnvironment) {
  ::setenv("HF_TOKEN", "hf_secret", 1);
  WorkerProcess whole(workerProgram("media_sandbox_probe"), {"token", "own"});
  EXPECT_EQ(whole.end(std::chrono::seconds(30)).code, kDone);
  WorkerProcess bare(workerProgram("media_sandbox_probe"), {"token", "own"}, WorkerEnvironment::kBare);
  EXPECT_EQ(bare.end(std::chrono::seconds(30)).code, kRefused);
  ::unsetenv("HF_TOKEN");
}

TEST_F(MediaSandbox, LetsThreadsBeMade) { EXPECT_EQ(tried("threads", "inside").code, kDone); }

TEST_F(MediaSandbox, AKernelThatRefusesItIsNoticedBefore) {
  EXPECT_EQ(tried("kernel", "free").code, kDone);
  EXPECT_EQ(tried("kernel", "refusing").code, kRefused);
}

TEST(KernelSandbox, TheOptionIsTakenOutOfTheLine) {
  std::string words[] = {"winnow-cli", "ask", "--require-sandbox", "why?", "--", "--require-sandbox"};
  char* line[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), words[5].data(), nullptr};
  int count = 6;
  EXPECT_FALSE(sandboxIsRequired());
  followRequireSandboxOption(count, line);
  EXPECT_TRUE(sandboxIsRequired());
  EXPECT_EQ(count, 5);
  EXPECT_STREQ(line[2], "why?");
  EXPECT_EQ(line[5], nullptr);
  ::unsetenv("WINNOW_REQUIRE_SANDBOX");
  followRequireSandboxOption(count, line);
  EXPECT_FALSE(sandboxIsRequired()) << "behind -- it is a word";
}

// An old kernel: system calls are held all the same, and the report says what is missing.
TEST_F(MediaSandbox, HoldsWithoutLandlock) {
  EXPECT_EQ(tried("open", "without-landlock").code, kRefused);
  EXPECT_TRUE(refused(tried("internet", "without-landlock")));
}

}  // namespace
}  // namespace winnow::app
