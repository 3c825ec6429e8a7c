// strftime_now of the chat template language, for a day instead of the clock.
//
// Used by the template interpreter. The time is 0 o'clock, names are English in every locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace winnow::chat {

// "2026-11-27", of a day that there is.
bool is_day(std::string_view day);

// day: such a day. Nothing: the format has a code that is not known.
std::optional<std::string> date_text(std::string_view day, std::string_view format);

}  // namespace winnow::chat
