// Runs winnow-cli as a person does and keeps what it said.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {

using test::file_text;
using test::ScratchFolder;
using test::shell;
using test::shell_quoted;
using test::write_file;

struct ProgramRun {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// arguments: a shell line; quote paths. What the program keeps between runs lies in the scratch folder.
inline ProgramRun run_cli(const ScratchFolder& scratch, const std::string& arguments) {
  ProgramRun run;
  run.exit_code = shell("WINNOW_HOME='" + scratch.file("home") + "' '" + WINNOW_CLI_PROGRAM + "' " + arguments + " >'" +
                        scratch.file("out") + "' 2>'" + scratch.file("err") + "' </dev/null");
  run.out = file_text(scratch.file("out"));
  run.err = file_text(scratch.file("err"));
  return run;
}

inline std::filesystem::path demo(const std::string& name) { return std::filesystem::path(source_folder()) / "resources/demo" / name; }

}  // namespace winnow::testing
