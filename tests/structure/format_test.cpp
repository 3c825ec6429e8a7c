// .clang-format decides about layout; this test keeps every source at what it says. Fix: clang-format -i FILE.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/structure/command_output.h"
#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

std::vector<std::string> sources() {
  std::vector<std::string> files;
  for (const char* folder : {"app", "engine", "kernels", "tests", "ui"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(source_folder()) / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".h" || extension == ".cpp" || extension == ".cu" || extension == ".cuh") files.push_back(entry.path().string());
    }
  }
  return files;
}

TEST(Format, EverySourceIsAsClangFormatLaysItOut) {
  // Versions differ in what they make of the same style; the package list installs Debian 12's.
  const std::string version = output_of("clang-format --version").text;
  if (version.find("version 14.") == std::string::npos) GTEST_SKIP() << "clang-format 14 is not on this machine: " << version;

  const std::vector<std::string> files = sources();
  ASSERT_GT(files.size(), 100U) << "the scan did not see the sources";
  constexpr std::size_t kFilesPerCall = 100;
  for (std::size_t first = 0; first < files.size(); first += kFilesPerCall) {
    std::string command = "clang-format --dry-run -Werror";
    for (std::size_t i = first; i < std::min(files.size(), first + kFilesPerCall); ++i) command += " '" + files[i] + "'";
    const CommandOutput output = output_of(command);
    EXPECT_EQ(output.status, 0) << "not laid out as .clang-format says (clang-format -i FILE mends it):\n"
                                << std::string_view(output.text).substr(0, 4000);
  }
}

}  // namespace
