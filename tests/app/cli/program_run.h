// Runs winnow-cli as a person does and keeps what it said.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {

using test::ScratchFolder;

struct ProgramRun {
  int exit_code = -1;
  std::string out;
  std::string err;
};

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

inline int shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// arguments: a shell line; quote paths. What the program keeps between runs lies in the scratch folder.
inline ProgramRun run_cli(const ScratchFolder& scratch, const std::string& arguments) {
  ProgramRun run;
  run.exit_code = shell("WINNOW_HOME='" + scratch.file("home") + "' '" + WINNOW_CLI_PROGRAM + "' " + arguments + " >'" +
                        scratch.file("out") + "' 2>'" + scratch.file("err") + "' </dev/null");
  run.out = file_text(scratch.file("out"));
  run.err = file_text(scratch.file("err"));
  return run;
}

inline std::string shell_quoted(const std::filesystem::path& path) {
  std::string quoted = "'";
  quoted += path.string();
  quoted += '\'';
  return quoted;
}

inline std::filesystem::path demo(const std::string& name) { return std::filesystem::path(source_folder()) / "resources/demo" / name; }

}  // namespace winnow::testing
