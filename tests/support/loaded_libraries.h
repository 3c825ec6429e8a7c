// Which shared libraries are mapped into this process.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

namespace winnow::test {

// The path of the first whose path has this text in it; empty: none.
inline std::string loaded_library(std::string_view text) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos && line.find(text, path) != std::string::npos) return line.substr(path);
  }
  return {};
}

// beside: a library that this program does load; without it the test could not fail.
inline void expect_no_libtorch(std::string_view beside) {
  ASSERT_NE(loaded_library(beside), "") << beside;
  EXPECT_EQ(loaded_library("/libtorch"), "");
  EXPECT_EQ(loaded_library("/libc10"), "");
}

}  // namespace winnow::test
