#include "engine/text/token_joins.h"

#include "engine/text/utf8.h"

namespace winnow {

TokenJoins::TokenJoins() : pairs_(std::size_t{1} << kPairBits), single_(0x110000) {}

void TokenJoins::add(std::string_view text) {
  utf8::Decoded before = utf8::decode(text, 0);
  if (before.bytes == text.size()) single_[before.code_point] = true;
  for (std::size_t at = before.bytes; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    pairs_[slot_of(before.code_point, next.code_point)] = true;
    before = next;
    at += next.bytes;
  }
}

void TokenJoins::cut(std::string_view text, const TextPiece& piece, std::vector<TextPiece>& words) const {
  if (piece.bytewise || piece.begin == piece.end) {
    words.push_back(piece);
    return;
  }
  std::size_t begin = piece.begin;
  utf8::Decoded before = utf8::decode(text, begin);
  for (std::size_t at = begin + before.bytes; at < piece.end;) {
    const utf8::Decoded next = utf8::decode(text, at);
    // Unknown characters stay together: a run of them may be one token.
    const bool apart = !pairs_[slot_of(before.code_point, next.code_point)] && (single_[before.code_point] || single_[next.code_point]);
    if (apart || at + next.bytes - begin > SplitPattern::kWindowBytes) {
      words.push_back({begin, at, false});
      begin = at;
    }
    before = next;
    at += next.bytes;
  }
  words.push_back({begin, piece.end, false});
}

}  // namespace winnow
