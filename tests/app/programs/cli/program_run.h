// Runs winnow-cli as a person does and keeps what it said.
#pragma once

#include <string>

#include "tests/app/programs/cli/cli_run.h"

namespace winnow::testing {

// arguments: a shell line; quote paths. input: the file that is stdin. What the program keeps between runs lies in the scratch folder.
inline ProgramRun run_cli(const ScratchFolder& scratch, const std::string& arguments, const std::string& input = "/dev/null") {
  return {.exit_code = shell("WINNOW_HOME='" + scratch.file("home") + "' '" + WINNOW_CLI_PROGRAM + "' " + arguments + " >'" +
                             scratch.file("out") + "' 2>'" + scratch.file("err") + "' <" + shell_quoted(input)),
          .out = file_text(scratch.file("out")),
          .err = file_text(scratch.file("err"))};
}

}  // namespace winnow::testing
