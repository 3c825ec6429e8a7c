// Says if a character is part of a word, as does \w of Unicode regular expressions (UTS 18): Alphabetic, marks, decimal digits, connectors,
// join controls. Used by the search for added tokens that must stand alone.
#pragma once

namespace winnow {

bool is_word_character(char32_t code_point);

}  // namespace winnow
