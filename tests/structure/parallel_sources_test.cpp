// Loops are shared out by engine/device/work_team.h. at::parallel_for is a plain loop in a file that is compiled without OpenMP, as ours
// are, and waits for threads that have lost their core before they began.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/shell.h"
#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

using winnow::test::file_text;

TEST(ParallelSources, ShareTheirWorkWithTheTeam) {
  int seen = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(source_folder()) / "engine")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = file_text(entry.path());
    EXPECT_EQ(text.find("at::parallel_for("), std::string::npos) << entry.path();
    if (text.find("share_work(") != std::string::npos) ++seen;
  }
  EXPECT_GT(seen, 3);
}

}  // namespace
