// Lower case and text without accents, as the `tokenizers` library computes them character by character.
//
// Used by the normalizer of tokenizer.json (Lowercase, StripAccents).
#pragma once

#include <string>
#include <string_view>

namespace winnow {

// text: valid UTF-8. A character becomes at most two; no rule looks at its neighbours.
std::string lower_case(std::string_view text);

// Unicode's marks, with and without a place of their own.
bool is_mark(char32_t code_point);

}  // namespace winnow
