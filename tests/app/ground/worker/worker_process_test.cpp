#include "app/ground/worker/worker_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "engine/base/error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

using std::chrono::milliseconds;

WorkerEnd endOf(const char* script) {
  WorkerProcess process("/bin/sh", {"-c", script});
  return process.end(milliseconds(10'000));
}

TEST(WorkerProcess, TellsHowItEnded) {
  EXPECT_EQ(endOf("exit 0").kind, WorkerEnd::Kind::kExited);
  EXPECT_EQ(endOf("exit 7").code, 7);
  const WorkerEnd crashed = endOf("kill -SEGV $$");
  EXPECT_EQ(crashed.kind, WorkerEnd::Kind::kSignal);
  EXPECT_EQ(crashed.code, SIGSEGV);
}

TEST(WorkerProcess, KillsOneThatGoesOn) {
  WorkerProcess process("/bin/sh", {"-c", "trap '' TERM HUP; exec sleep 100"});
  const pid_t pid = process.pid();
  EXPECT_EQ(process.end(milliseconds(10)).kind, WorkerEnd::Kind::kEnded);
  EXPECT_NE(::kill(pid, 0), 0) << "it is still there";
}

// Exits with the number of descriptors from 3 on, and 100 more if 3 is no socket.
TEST(WorkerProcess, HasTheChannelAndNoOtherFile) {
  const OpenFile another(::dup(0));
  const WorkerEnd end = endOf(
      "n=0; for f in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$f ] && n=$((n+1)); done; "
      "case $(readlink /proc/$$/fd/3) in socket:*) ;; *) n=$((n+100)) ;; esac; exit $n");
  EXPECT_EQ(end.code, 1);
}

TEST(WorkerProcess, OutOfReachOfTheTerminal) {
  WorkerProcess process("/bin/sh", {"-c", "exec sleep 100"});
  EXPECT_EQ(::getpgid(process.pid()), process.pid());
}

TEST(WorkerProcess, IsFoundBesideTheProgramAsBuiltAndInLibAsInstalled) {
  const test::ScratchFolder prefix;
  std::filesystem::create_directories(prefix.file("bin"));
  std::filesystem::create_directories(prefix.file("lib/winnow"));
  EXPECT_EQ(workerProgram("worker", prefix.file("bin")), prefix.file("bin/worker")) << "what is nowhere is told by the place it would have";
  prefix.write("lib/winnow/worker", "");
  EXPECT_EQ(workerProgram("worker", prefix.file("bin")), prefix.file("lib/winnow/worker"));
  EXPECT_EQ(workerProgram("worker", prefix.file("lib/winnow")), prefix.file("lib/winnow/worker")) << "a worker that starts another";
  prefix.write("bin/worker", "");
  EXPECT_EQ(workerProgram("worker", prefix.file("bin")), prefix.file("bin/worker"));
}

TEST(WorkerProcess, SaysThatAProgramIsMissing) { EXPECT_THROW(WorkerProcess(workerProgram("no-such-program")), Exception); }

}  // namespace
}  // namespace winnow::app
