// A program of ours that runs beside the test until it is ended: by its id, and with its home in a scratch folder.
#pragma once

#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "tests/app/programs/cli/program_run.h"

namespace winnow::testing {

class RunningProgram {
 public:
  // command: a shell line; it is replaced by the program, so that the id is the program's.
  RunningProgram(const ScratchFolder& scratch, const std::string& command) {
    const std::string line = "umask 022; export WINNOW_HOME=" + shell_quoted(scratch.file("home")) + "; sh -c " +
                             shell_quoted("exec env " + command) + " >" + shell_quoted(scratch.file("out")) + " 2>" +
                             shell_quoted(scratch.file("err")) + " & echo $! >" + shell_quoted(scratch.file("pid"));
    if (shell(line) == 0) pid_ = std::stoi(file_text(scratch.file("pid")));
  }
  ~RunningProgram() {
    if (pid_ <= 0) return;
    // More than once: during a request the first ends its answer only.
    const auto end = [this] {
      ::kill(pid_, SIGTERM);
      return !alive();
    };
    if (!wait_for(end)) ::kill(pid_, SIGKILL);
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  pid_t pid() const { return pid_; }
  bool alive() const { return ::kill(pid_, 0) == 0; }

  static bool wait_for(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace winnow::testing
