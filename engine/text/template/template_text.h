// Python's string methods on marked text. Used by the template interpreter.
//
// Case mapping is that of ASCII letters: templates apply it to roles and keywords. Lengths and indices are in characters (code points).
// Every method takes time that is linear in its arguments: limits act between calls only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/template/template_value.h"

namespace winnow::chat {

enum class Sides : int { kLeft = 1, kRight = 2, kBoth = 3 };

// characters: those to remove, as str.strip does; nullopt: white space.
Text strip(const Text& text, Sides sides, std::optional<std::string_view> characters);
bool contains(const Text& text, std::string_view part);
// Byte offset of the first occurrence.
std::optional<std::size_t> find(const Text& text, std::string_view part);
// Occurrences that do not overlap. part: not empty.
std::int64_t count(const Text& text, std::string_view part);
// At most `limit` cuts; negative: any number. separator: not empty.
std::vector<Text> split(const Text& text, std::string_view separator, std::int64_t limit);
std::vector<Text> split_spaces(const Text& text, std::int64_t limit);
std::vector<Text> split_from_right(const Text& text, std::string_view separator, std::int64_t limit);
// At most `limit` of them are cut off.
std::vector<Text> split_lines(const Text& text, std::int64_t limit);
Text replace(const Text& text, const Text& from, const Text& to, std::int64_t limit);

Text upper(const Text& text);
Text lower(const Text& text);
Text title(const Text& text);
Text capitalize(const Text& text);

// Byte offsets of all characters, and the size at the end.
std::vector<std::size_t> character_offsets(const Text& text);

std::string float_text(double value);
// Quotes like json.dumps(ensure_ascii=False).
Text json_string(const Text& text);
// Quotes like Python's repr().
Text python_string(const Text& text);

}  // namespace winnow::chat
