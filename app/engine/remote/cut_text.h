// The beginning of a text in UTF-8, cut between two characters. Pure; threads: any.
#pragma once

#include <cstddef>
#include <string>

namespace winnow::app {

inline std::string cutText(std::string text, std::size_t mostBytes) {
  if (text.size() <= mostBytes) return text;
  std::size_t end = mostBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

}  // namespace winnow::app
