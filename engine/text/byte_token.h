// Names of tokens that stand for one byte: "<0x0A>".
//
// Used by the models of words (bytes of a character that the vocabulary lacks) and by the decoder.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace winnow {

inline std::string byte_token_name(unsigned char byte) {
  char name[8];
  std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
  return name;
}

inline std::optional<unsigned char> byte_of_token_name(std::string_view name) {
  if (name.size() != 6 || !name.starts_with("<0x") || !name.ends_with('>')) return std::nullopt;
  unsigned value = 0;
  for (const char c : name.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return static_cast<unsigned char>(value);
}

}  // namespace winnow
