// Normalization Form C, as the `tokenizers` library computes it.
//
// Used by the tokenizer. Text without characters from U+0300 on, and text that is normalised already in the cheap sense, is returned
// without work on code points. A run of n combining marks costs O(n log n).
#pragma once

#include <string>
#include <string_view>

namespace winnow {

// text: valid UTF-8.
std::string normalize_nfc(std::string_view text);

}  // namespace winnow
