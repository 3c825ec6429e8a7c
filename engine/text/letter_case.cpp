#include "engine/text/letter_case.h"

#include <algorithm>

#include "engine/text/unicode_mappings.h"
#include "engine/text/utf8.h"

namespace winnow {

std::string lower_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto rows = unicode::lowercase_mappings();
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      out.push_back(byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + ('a' - 'A')) : text[at]);
      ++at;
      continue;
    }
    const utf8::Decoded next = utf8::decode(text, at);
    const auto row = std::lower_bound(rows.begin(), rows.end(), next.code_point, [](const auto& r, char32_t c) { return r.first < c; });
    if (row == rows.end() || row->first != next.code_point) {
      out.append(text.substr(at, next.bytes));
    } else {
      utf8::append(out, row->second);
      if (row->third != 0) utf8::append(out, row->third);
    }
    at += next.bytes;
  }
  return out;
}

bool is_mark(char32_t code_point) {
  const auto ranges = unicode::marks();
  if (code_point < ranges.front().first) return false;
  const auto found = std::upper_bound(ranges.begin(), ranges.end(), code_point, [](char32_t c, const auto& r) { return c < r.first; });
  return code_point <= (found - 1)->last;
}

}  // namespace winnow
