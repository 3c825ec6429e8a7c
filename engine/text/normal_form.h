// Unicode normalisation forms, as the `tokenizers` library computes them.
//
// Used by the normalizer of tokenizer.json. Stretches below U+0300 (NFC) or U+00C0 (NFD) are in the form already and
// returned without work on code points. A run of n combining marks costs O(n log n).
// Errors: Exception kLimitExceeded (a stretch of more than 33 million characters).
#pragma once

#include <string>
#include <string_view>

namespace winnow {

enum class NormalForm : int { kNfc = 1, kNfd };

// text: valid UTF-8. A character becomes at most four.
std::string normalized(NormalForm form, std::string_view text);

}  // namespace winnow
