// What single characters become, as the `tokenizers` library has it. Generated: tests/golden/make/make_unicode_tables.py.
//
// Used by normal_form.cpp (compatibility decomposition) and letter_case.cpp (lower case, marks). Sorted by character.
#pragma once

#include <cstdint>
#include <span>

#include "engine/text/unicode_tables.h"

namespace winnow::unicode {

// A character whose NFKD is another text than its NFD: compatibility_text()[first, first + count).
struct CompatibilityRow {
  char32_t character;
  std::uint16_t first;
  std::uint8_t count;
};

std::span<const CompatibilityRow> compatibility_rows();
std::span<const char32_t> compatibility_text();
// `first` becomes second, third (0: none).
std::span<const CanonicalPair> lowercase_mappings();
std::span<const CodePointRange> marks();

}  // namespace winnow::unicode
