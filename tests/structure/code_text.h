// What a scan of C++ reads: the code without what only looks like code.
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

// The same text with comments, literals and preprocessor lines blanked, so that every offset still names its line.
inline std::string code_of(const std::string& text) {
  std::string code = text;
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && i < code.size(); ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
  };
  bool line_start = true;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text.compare(i, 2, "//") == 0 || (line_start && text[i] == '#')) {
      end = text.find('\n', i);
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0))) {
      while (end < text.size() && text[end] != text[i]) end += text[end] == '\\' ? 2 : 1;
      ++end;
    } else {
      line_start = text[i] == '\n' || (line_start && text[i] == ' ');
      i = end;
      continue;
    }
    end = std::min(end, text.size());
    blank(i, end);
    i = end;
  }
  return code;
}

inline std::string code_of_file(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return code_of(text.str());
}
