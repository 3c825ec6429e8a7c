// A number as English words, as the Python package num2words writes it: SmolVLM's video prompts count frames in words.
//
// Used by media_tokens.h. No torch. Threads: plain function.
#pragma once

#include <cstdint>
#include <string>

namespace winnow {

// "twenty-one", "one hundred and five", "one thousand, one hundred and five". number: 0 to 999,999.
std::string spoken_number(std::int64_t number);

}  // namespace winnow
