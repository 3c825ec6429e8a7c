// The byte-level alphabet of GPT-2: every byte has a printable character, so vocabularies can be JSON text.
//
// Used by the tokenizer file reader and the model. Printable Latin-1 stands for itself; the 68 others are U+0100 and up.
#pragma once

#include <array>
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

}  // namespace winnow
