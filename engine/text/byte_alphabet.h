// Bytes as text: the byte-level alphabet of GPT-2, in which every byte has a printable character, so vocabularies can be JSON text; and the
// names of tokens that stand for one byte.
//
// Used by the readers of tokenizers and their models. Printable Latin-1 stands for itself; the 68 others are U+0100 and up.
#pragma once

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace winnow {

class ByteAlphabet {
 public:
  static const ByteAlphabet& instance();

  // The character of a byte, in UTF-8.
  const std::string& text_of(unsigned char byte) const { return text_[byte]; }
  std::string text_of(std::string_view bytes) const;

  // The bytes of a token's text; nullopt if a character is not of the alphabet (an added token with a space, say).
  std::optional<std::string> bytes_of(std::string_view text) const;

 private:
  ByteAlphabet();
  std::array<std::string, 256> text_;
  std::array<int, 324> byte_;  // by code point; -1: none
};

// Names of tokens that stand for one byte: "<0x0A>".
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
