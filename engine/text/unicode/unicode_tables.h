// Unicode data as the `tokenizers` library has it, in sorted tables. Generated: tests/golden/make/make_unicode_tables.py.
//
// Used by nfc.cpp (canonical decomposition, composition, combining classes), split_pattern.cpp and added_token_matcher.cpp (characters that
// are newer than Unicode 14, which is what PCRE2 10.42 knows). Hangul is arithmetic and not in the tables.
#pragma once

#include <cstdint>
#include <span>

namespace winnow::unicode {

// first decomposes into second, third (0: none), one step at a time; sorted by first. second and third compose to first again, unless that
// is one of never_composed().
struct CanonicalPair {
  char32_t first;
  char32_t second;
  char32_t third;
};
struct CombiningRange {
  char32_t first;
  char32_t last;
  std::uint8_t combining_class;
};
struct CodePointRange {
  char32_t first;
  char32_t last;
};

// From first on, each decomposes into the one beside it.
struct CodePointRun {
  char32_t first;
  std::span<const char32_t> into;
};

std::span<const CanonicalPair> decompositions();
std::span<const CodePointRange> never_composed();
std::span<const CodePointRun> ideographs();
std::span<const CombiningRange> combining_ranges();
std::span<const CodePointRange> added_letters();
std::span<const CodePointRange> added_numbers();
std::span<const CodePointRange> added_word_characters();

}  // namespace winnow::unicode
