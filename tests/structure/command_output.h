// What a program prints: for tests of the checkout that ask clang-format or git.
#pragma once

#include <array>
#include <cstdio>
#include <string>

struct CommandOutput {
  int status = -1;   // as wait() tells it; 0: it succeeded
  std::string text;  // errors too
};

inline CommandOutput output_of(const std::string& command) {
  CommandOutput output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe)) output.text.append(piece.data(), count);
  output.status = pclose(pipe);
  return output;
}
