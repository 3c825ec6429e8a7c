// Which shared libraries are mapped into this process.
#pragma once

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

}  // namespace winnow::test
