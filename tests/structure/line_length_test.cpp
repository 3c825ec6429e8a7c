// No line of a product source is longer than 140 characters, generated ones and those that clang-format cannot break included.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

constexpr std::ptrdiff_t kMostCharacters = 140;

// Of UTF-8: every byte but those that continue one.
std::ptrdiff_t characters(const std::string& line) {
  return std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

TEST(LineLength, CountsCharactersAndNotBytes) { EXPECT_EQ(characters("“é” \xF0\x90\x90\x80"), 5); }

TEST(LineLength, IsAtMostAHundredAndForty) {
  int seen = 0;
  for (const char* folder : {"app", "engine", "kernels", "ui"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(source_folder()) / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
      ++seen;
      std::ifstream file(entry.path());
      std::string line;
      for (int number = 1; std::getline(file, line); ++number) {
        EXPECT_LE(characters(line), kMostCharacters) << fs::relative(entry.path(), source_folder()).generic_string() << ":" << number;
      }
    }
  }
  EXPECT_GT(seen, 1000) << "the scan did not see the sources";
}

}  // namespace
