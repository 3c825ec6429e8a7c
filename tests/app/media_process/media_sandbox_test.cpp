// What an attacker who runs code in the media process cannot do: each is tried from inside, and outside to know that the try is one.
#include "app/media_process/media_sandbox.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "app/worker/worker_process.h"
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
                                         "many-files", "change-folder"),
                         [](const auto& each) {
                           std::string name(each.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(MediaSandbox, LetsThreadsBeMade) { EXPECT_EQ(tried("threads", "inside").code, kDone); }

// An old kernel: system calls are held all the same, and the report says what is missing.
TEST_F(MediaSandbox, HoldsWithoutLandlock) {
  EXPECT_EQ(tried("open", "without-landlock").code, kRefused);
  EXPECT_TRUE(refused(tried("internet", "without-landlock")));
}

}  // namespace
}  // namespace winnow::app
