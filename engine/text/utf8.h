// UTF-8: checked decoding, encoding, and repair of broken text.
//
// Used by the tokenizer, the detokenizer and the chat template. "Broken" means what it does for Rust's from_utf8_lossy and the WHATWG
// decoder: overlong forms, surrogates, code points over U+10FFFF and cut sequences; each maximal cut prefix becomes one U+FFFD.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace winnow::utf8 {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Decoded {
  char32_t code_point = 0;  // U+FFFD where the bytes are broken
  std::size_t bytes = 0;    // consumed: 1..4, or 0 at the end of the text
  bool valid = false;
  bool cut = false;  // broken only because the text ends inside the sequence
};

Decoded decode(std::string_view text, std::size_t offset);
void append(std::string& text, char32_t code_point);

// Every broken sequence replaced by U+FFFD.
std::string repair(std::string_view text);
bool is_valid(std::string_view text);

// The code point that starts at `offset` of text that is known to be valid, and its length in bytes.
inline std::size_t length_of_lead(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }
inline bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Unicode White_Space.
bool is_space(char32_t code_point);

// For valid text: bytes of the white space that it begins with, bytes before the white space that it ends with, characters.
std::size_t spaces_at_start(std::string_view text);
std::size_t without_spaces_at_end(std::string_view text);
std::size_t count(std::string_view text);
// The start of the last character. text: not empty.
std::size_t last_character(std::string_view text);

}  // namespace winnow::utf8
