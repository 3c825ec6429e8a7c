// winnow-cli while it runs: lines are typed, what it says is waited for, signals are sent.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/app/programs/cli/cli_run.h"

namespace winnow::testing {

class RunningProgram {
 public:
  // arguments: a shell line; quote paths. Standard input stays open as long as this object lives.
  RunningProgram(const ScratchFolder& scratch, const std::string& arguments) : out_(scratch.file("out")), err_(scratch.file("err")) {
    const std::string typed = scratch.file("typed");
    ::mkfifo(typed.c_str(), 0600);
    typed_ = ::open(typed.c_str(), O_RDWR | O_CLOEXEC);
    const std::string line = "WINNOW_HOME='" + scratch.file("home") + "' exec '" + WINNOW_CLI_PROGRAM + "' " + arguments + " >'" + out_ +
                             "' 2>'" + err_ + "' <'" + typed + "'";
    program_ = ::fork();
    if (program_ == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
  }
  ~RunningProgram() {
    if (program_ > 0) ::kill(program_, SIGKILL);
    if (program_ > 0) ended();
    ::close(typed_);
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  void type(const std::string& line) const {
    const std::string bytes = line + "\n";
    EXPECT_EQ(::write(typed_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  // False: it ended without saying so.
  bool waits_for_err(const std::string& text) { return says(err_, text); }
  bool waits_for_out(const std::string& text) { return says(out_, text); }
  void send(int signal) const { ::kill(program_, signal); }

  // The exit code; 128 and more: ended by that signal.
  int ended() {
    int status = 0;
    ::waitpid(std::exchange(program_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string out() const { return file_text(out_); }
  std::string err() const { return file_text(err_); }

 private:
  bool says(const std::string& file, const std::string& text) const {
    while (file_text(file).find(text) == std::string::npos) {
      siginfo_t gone{};
      ::waitid(P_PID, static_cast<id_t>(program_), &gone, WEXITED | WNOHANG | WNOWAIT);
      if (gone.si_pid != 0) return file_text(file).find(text) != std::string::npos;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  const std::string out_, err_;
  int typed_ = -1;
  pid_t program_ = 0;
};

}  // namespace winnow::testing
