// Every *_test.cpp must be in the build: a test that is not compiled cannot fail.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/shell.h"
#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

using winnow::test::file_text;

TEST(TestRegistration, EveryTestFileIsNamedByItsCMakeLists) {
  const fs::path tests = fs::path(source_folder()) / "tests";
  int seen = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tests)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_test.cpp")) continue;
    ++seen;
    // The list beside the file, or the nearest above it.
    fs::path folder = entry.path().parent_path();
    while (folder != tests && !fs::exists(folder / "CMakeLists.txt")) folder = folder.parent_path();
    const fs::path list = folder / "CMakeLists.txt";
    ASSERT_TRUE(folder != tests) << entry.path() << " belongs to no CMakeLists.txt";
    EXPECT_NE(file_text(list).find(name), std::string::npos) << entry.path() << " is not in the build";
  }
  EXPECT_GT(seen, 5);
}

TEST(TestRegistration, EveryTestFolderIsAdded) {
  const fs::path tests = fs::path(source_folder()) / "tests";
  const std::string root_list = file_text(tests / "CMakeLists.txt");
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tests)) {
    if (entry.path().filename() != "CMakeLists.txt" || entry.path().parent_path() == tests) continue;
    const std::string folder = fs::relative(entry.path().parent_path(), tests).generic_string();
    EXPECT_NE(root_list.find(folder), std::string::npos) << "tests/CMakeLists.txt does not add " << folder;
  }
}

}  // namespace
