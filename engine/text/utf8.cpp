#include "engine/text/utf8.h"

#include <algorithm>

namespace winnow::utf8 {

Decoded decode(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return {};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(offset);
  if (lead < 0x80) return {lead, 1, true, false};
  // The second byte's range is what excludes overlong forms, surrogates and values over U+10FFFF.
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  std::size_t need = 0;
  char32_t value = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    need = 1;
    value = lead & 0x1Fu;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    need = 2;
    value = lead & 0x0Fu;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    need = 3;
    value = lead & 0x07u;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {0xFFFD, 1, false, false};
  }
  for (std::size_t i = 1; i <= need; ++i) {
    if (offset + i >= text.size()) return {0xFFFD, i, false, true};
    const unsigned char next = byte(offset + i);
    if (next < low || next > high) return {0xFFFD, i, false, false};
    value = (value << 6) | (next & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {value, need + 1, true, false};
}

void append(std::string& text, char32_t c) {
  if (c < 0x80) {
    text.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    text.push_back(static_cast<char>(0xC0 | (c >> 6)));
    text.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    text.push_back(static_cast<char>(0xE0 | (c >> 12)));
    text.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    text.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    text.push_back(static_cast<char>(0xF0 | (c >> 18)));
    text.push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    text.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    text.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

bool is_valid(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const Decoded next = decode(text, i);
    if (!next.valid) return false;
    i += next.bytes;
  }
  return true;
}

std::string repair(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Decoded next = decode(text, i);
    out.append(next.valid ? text.substr(i, next.bytes) : kReplacement);
    i += next.bytes;
  }
  return out;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::size_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && is_continuation(static_cast<unsigned char>(text[at]))) --at;
  return at;
}

std::size_t spaces_at_start(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Decoded next = decode(text, at);
    if (!is_space(next.code_point)) break;
    at += next.bytes;
  }
  return at;
}

std::size_t without_spaces_at_end(std::string_view text) {
  while (!text.empty()) {
    const std::size_t last = last_character(text);
    if (!is_space(decode(text, last).code_point)) break;
    text = text.substr(0, last);
  }
  return text.size();
}

std::size_t count(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(static_cast<unsigned char>(c)); }));
}

}  // namespace winnow::utf8
