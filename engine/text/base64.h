// Base64 (RFC 4648) to bytes. Used for the character map of a tokenizer.json.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace winnow {

// The standard alphabet with its padding and nothing else; absent for any other text.
std::optional<std::string> bytes_of_base64(std::string_view text);

}  // namespace winnow
