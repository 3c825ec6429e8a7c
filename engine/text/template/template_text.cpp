#include "engine/text/template/template_text.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <unordered_set>

#include "engine/text/template/text_search.h"
#include "engine/text/utf8.h"

namespace winnow::chat {
namespace {

char ascii_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80; }

// Python's str.isspace: White_Space and four separators of ASCII.
bool is_python_space(char32_t c) { return utf8::is_space(c) || (c >= 0x1C && c <= 0x1F); }

std::unordered_set<std::string_view> characters_of(std::string_view text) {
  std::unordered_set<std::string_view> characters;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8::decode(text, i).bytes;
    characters.insert(text.substr(i, length));
    i += length;
  }
  return characters;
}

std::vector<Text> cut(const Text& text, const std::vector<std::pair<std::size_t, std::size_t>>& pieces) {
  std::vector<Text> out;
  out.reserve(pieces.size());
  for (const auto& [begin, end] : pieces) out.push_back(text.part(begin, end - begin));
  return out;
}

}  // namespace

std::vector<std::size_t> character_offsets(const Text& text) {
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < text.size(); i += utf8::decode(text.bytes(), i).bytes) offsets.push_back(i);
  offsets.push_back(text.size());
  return offsets;
}

Text strip(const Text& text, Sides sides, std::optional<std::string_view> characters) {
  const std::string_view bytes = text.bytes();
  const auto set = characters_of(characters.value_or(""));
  const auto goes = [&](std::size_t at, std::size_t length) {
    return characters ? set.contains(bytes.substr(at, length)) : is_python_space(utf8::decode(bytes, at).code_point);
  };
  std::size_t begin = 0;
  std::size_t end = bytes.size();
  if (sides != Sides::kRight) {
    while (begin < end) {
      const std::size_t length = utf8::decode(bytes, begin).bytes;
      if (!goes(begin, length)) break;
      begin += length;
    }
  }
  if (sides != Sides::kLeft) {
    while (end > begin) {
      std::size_t at = end - 1;
      while (at > begin && utf8::is_continuation(static_cast<unsigned char>(bytes[at]))) --at;
      if (!goes(at, end - at)) break;
      end = at;
    }
  }
  return text.part(begin, end - begin);
}

std::optional<std::size_t> find(const Text& text, std::string_view part) {
  if (part.empty()) return 0;
  return TextSearch(text.bytes(), part).next();
}

bool contains(const Text& text, std::string_view part) { return find(text, part).has_value(); }

std::int64_t count(const Text& text, std::string_view part) {
  std::int64_t places = 0;
  for (TextSearch search(text.bytes(), part); search.next();) ++places;
  return places;
}

std::vector<Text> split(const Text& text, std::string_view separator, std::int64_t limit) {
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  std::size_t at = 0;
  TextSearch search(text.bytes(), separator);
  while (limit < 0 || static_cast<std::int64_t>(pieces.size()) < limit) {
    const std::optional<std::size_t> found = search.next();
    if (!found) break;
    pieces.emplace_back(at, *found);
    at = *found + separator.size();
  }
  pieces.emplace_back(at, text.size());
  return cut(text, pieces);
}

std::vector<Text> split_from_right(const Text& text, std::string_view separator, std::int64_t limit) {
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  std::size_t end = text.size();
  TextSearch search(text.bytes(), separator, TextSearch::From::kRight);
  while (limit < 0 || static_cast<std::int64_t>(pieces.size()) < limit) {
    const std::optional<std::size_t> found = search.next();
    if (!found) break;
    pieces.emplace_back(*found + separator.size(), end);
    end = *found;
  }
  pieces.emplace_back(0, end);
  return cut(text, {pieces.rbegin(), pieces.rend()});
}

std::vector<Text> split_spaces(const Text& text, std::int64_t limit) {
  std::vector<Text> out;
  Text rest = strip(text, Sides::kLeft, std::nullopt);
  const std::string& bytes = rest.bytes();
  std::size_t at = 0;
  const auto skip = [&](bool spaces) {
    while (at < bytes.size()) {
      const utf8::Decoded next = utf8::decode(bytes, at);
      if (is_python_space(next.code_point) != spaces) break;
      at += next.bytes;
    }
  };
  while (at < bytes.size()) {
    const std::size_t begin = at;
    if (limit >= 0 && static_cast<std::int64_t>(out.size()) == limit) {
      out.push_back(rest.part(begin, bytes.size() - begin));
      break;
    }
    skip(false);
    out.push_back(rest.part(begin, at - begin));
    skip(true);
  }
  return out;
}

std::vector<Text> split_lines(const Text& text, std::int64_t limit) {
  std::vector<Text> lines = split(text, "\n", limit);
  if (!lines.empty() && lines.back().size() == 0) lines.pop_back();
  for (Text& line : lines) {
    if (line.bytes().ends_with('\r')) line = line.part(0, line.size() - 1);
  }
  return lines;
}

Text replace(const Text& text, const Text& from, const Text& to, std::int64_t limit) {
  Text out;
  std::size_t at = 0;
  std::int64_t done = 0;
  if (from.size() == 0) {
    // Python puts `to` around every character.
    const std::vector<std::size_t> offsets = character_offsets(text);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (limit < 0 || done < limit) {
        out.append(to);
        ++done;
      }
      if (i + 1 < offsets.size()) out.append_part(text, offsets[i], offsets[i + 1] - offsets[i]);
    }
    return out;
  }
  for (TextSearch search(text.bytes(), from.bytes()); limit < 0 || done < limit; ++done) {
    const std::optional<std::size_t> found = search.next();
    if (!found) break;
    out.append_part(text, at, *found - at);
    out.append(to);
    at = *found + from.size();
  }
  out.append_part(text, at, text.size() - at);
  return out;
}

Text upper(const Text& text) {
  return text.mapped([](std::size_t, char c) { return ascii_upper(c); });
}
Text lower(const Text& text) {
  return text.mapped([](std::size_t, char c) { return ascii_lower(c); });
}
Text title(const Text& text) {
  const std::string& bytes = text.bytes();
  return text.mapped([&](std::size_t i, char c) { return i == 0 || !is_letter(bytes[i - 1]) ? ascii_upper(c) : ascii_lower(c); });
}
Text capitalize(const Text& text) {
  return text.mapped([](std::size_t i, char c) { return i == 0 ? ascii_upper(c) : ascii_lower(c); });
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[400];
  const auto scientific = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string text(buffer, scientific.ptr);
  const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
  if (exponent < -4 || exponent >= 16) return text;
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string plain(buffer, fixed.ptr);
  if (plain.find('.') == std::string::npos) plain += ".0";
  return plain;
}

namespace {

Text quoted(const Text& text, char quote, bool json) {
  const Writer writer = text.first_message();
  Text out(std::string(1, quote), writer);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text.bytes()[i];
    const auto byte = static_cast<unsigned char>(c);
    std::string escaped;
    if (c == quote || c == '\\') {
      escaped = {'\\', c};
    } else if (c == '\n') {
      escaped = "\\n";
    } else if (c == '\r') {
      escaped = "\\r";
    } else if (c == '\t') {
      escaped = "\\t";
    } else if (json && (c == '\b' || c == '\f')) {
      escaped = c == '\b' ? "\\b" : "\\f";
    } else if (byte < 0x20 || (!json && byte == 0x7F)) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, json ? "\\u%04x" : "\\x%02x", byte);
      escaped = buffer;
    }
    if (escaped.empty()) {
      out.append_part(text, i, 1);
    } else {
      out.append(Text(escaped, text.writer(i)));
    }
  }
  out.append(Text(std::string(1, quote), writer));
  return out;
}

}  // namespace

Text json_string(const Text& text) { return quoted(text, '"', true); }

Text python_string(const Text& text) {
  const bool single = text.bytes().find('\'') != std::string::npos;
  const bool both = single && text.bytes().find('"') != std::string::npos;
  return quoted(text, single && !both ? '"' : '\'', false);
}

}  // namespace winnow::chat
