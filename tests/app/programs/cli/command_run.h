// Runs commands of winnow-cli in this process: a start of the program costs more than most questions do. What only a process shows (exit
// codes, signals, stdin) is asked of the program itself (program_run.h).
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <wordexp.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/programs/cli/program.h"
#include "tests/app/programs/cli/cli_run.h"

namespace winnow::testing {

// During its lifetime the standard streams are these files, on the level of descriptors: whatever writes there, and however.
class StandardStreams {
 public:
  StandardStreams(const std::string& in, const std::string& out, const std::string& err) {
    flush();
    exchange(STDIN_FILENO, in, O_RDONLY);
    exchange(STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC);
    exchange(STDERR_FILENO, err, O_WRONLY | O_CREAT | O_TRUNC);
  }
  ~StandardStreams() {
    flush();
    for (int descriptor = 0; descriptor < 3; ++descriptor) {
      ::dup2(before_[static_cast<std::size_t>(descriptor)], descriptor);
      ::close(before_[static_cast<std::size_t>(descriptor)]);
    }
  }
  StandardStreams(const StandardStreams&) = delete;
  StandardStreams& operator=(const StandardStreams&) = delete;

 private:
  static void flush() {
    std::cout.flush();
    std::fflush(stdout);
    std::fflush(stderr);
  }
  void exchange(int descriptor, const std::string& path, int flags) {
    before_[static_cast<std::size_t>(descriptor)] = ::dup(descriptor);
    const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    if (file < 0) throw std::runtime_error("cannot open " + path);
    ::dup2(file, descriptor);
    ::close(file);
  }

  std::array<int, 3> before_{};
};

// As the shell reads them; no variables, patterns or redirections.
inline std::vector<std::string> shell_words(const std::string& line) {
  wordexp_t words;
  if (::wordexp(line.c_str(), &words, WRDE_NOCMD | WRDE_UNDEF) != 0) throw std::runtime_error("no list of words: " + line);
  std::vector<std::string> list(words.we_wordv, words.we_wordv + words.we_wordc);
  ::wordfree(&words);
  return list;
}

// As run_cli() of program_run.h, without a process.
inline ProgramRun run_command(const ScratchFolder& scratch, const std::string& arguments, const std::string& input = "/dev/null") {
  const std::vector<std::string> words = shell_words(arguments);
  std::vector<const char*> argv = {"winnow-cli"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  ::setenv("WINNOW_HOME", scratch.file("home").c_str(), 1);
  ProgramRun run;
  {
    const StandardStreams streams(input, scratch.file("out"), scratch.file("err"));
    run.exit_code = static_cast<int>(cli::run_program(static_cast<int>(argv.size()), argv.data()));
  }
  run.out = file_text(scratch.file("out"));
  run.err = file_text(scratch.file("err"));
  return run;
}

}  // namespace winnow::testing
