// at::parallel_for is a plain loop in a file that is compiled without OpenMP, and nothing but the time tells.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "tests/support/shell.h"
#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

using winnow::test::file_text;

TEST(ParallelSources, AreCompiledWithOpenMp) {
  int seen = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(source_folder()) / "engine")) {
    if (entry.path().extension() != ".cpp" || file_text(entry.path()).find("at::parallel_for(") == std::string::npos) continue;
    ++seen;
    fs::path folder = entry.path().parent_path();
    while (!fs::exists(folder / "CMakeLists.txt")) folder = folder.parent_path();
    std::istringstream list(file_text(folder / "CMakeLists.txt"));
    bool named = false;
    for (std::string line; std::getline(list, line);) {
      named = named || (line.starts_with("winnow_parallel_sources(") &&
                        line.find(fs::relative(entry.path(), folder).generic_string()) != std::string::npos);
    }
    EXPECT_TRUE(named) << entry.path() << " is in no winnow_parallel_sources()";
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
