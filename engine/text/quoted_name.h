// Names that files say, for the sentence that refuses them: always one line of UTF-8, and no long one.
//
// Used by engine/model_files and engine/models. Control characters become "?", broken UTF-8 U+FFFD; a name of more than 128 bytes is cut
// and ends with "...". Errors: none. Threads: plain functions.
#pragma once

#include <string>
#include <string_view>

namespace winnow {

std::string printable_name(std::string_view name);
std::string quoted_name(std::string_view name);  // the same in quotes

}  // namespace winnow
