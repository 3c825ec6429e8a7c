// Places where a text without words may still be cut into words, because no token reaches across.
//
// Used by the tokenizer for vocabularies of characters, whose text is one word however long it is (SentencePiece): a merge puts together
// what one token holds, so between two characters that stand side by side in no token nothing ever merges, and both sides give the tokens
// that the whole gives. Pairs are kept as hashes in 512 KiB: a pair that is taken for a known one by mistake only leaves a word longer.
// A word of more than 64 KiB is cut nevertheless.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/text/split_pattern.h"

namespace winnow {

class TokenJoins {
 public:
  TokenJoins();

  // text: of a token that text can become; valid UTF-8.
  void add(std::string_view text);
  // Appends the words of text[piece.begin, piece.end).
  void cut(std::string_view text, const TextPiece& piece, std::vector<TextPiece>& words) const;

 private:
  static constexpr int kPairBits = 22;
  static std::size_t slot_of(char32_t first, char32_t second) {
    const std::uint64_t pair = static_cast<std::uint64_t>(first) << 32 | second;
    return static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15ull) >> (64 - kPairBits));
  }

  std::vector<bool> pairs_;   // by hash
  std::vector<bool> single_;  // by code point: a token of its own
};

}  // namespace winnow
