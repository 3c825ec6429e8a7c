// What tests of the terminal program share, whether they start it (program_run.h) or call it (command_run.h).
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
  std::string out{};
  std::string err{};
};

inline std::filesystem::path demo(const std::string& name) { return std::filesystem::path(source_folder()) / "resources/demo" / name; }

}  // namespace winnow::testing
