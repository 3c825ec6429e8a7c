// Token ids to text, one at a time, without ever showing half a character.
//
// Used by the decode loop for streaming. push() returns what became complete; flush() gives the rest, with U+FFFD for a character that
// never came to its end. All that was returned, joined, equals Tokenizer::decode() of all ids: where that takes away a text's first spaces,
// the first ids given here are a text's first, so one that goes on with an answer is given all of it. Threads: confined to one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"

namespace winnow {

class Detokenizer {
 public:
  // The tokenizer must outlive this. start: of the first id; a text that goes on keeps its first spaces.
  explicit Detokenizer(const Tokenizer& tokenizer, SpecialTokens specials = SpecialTokens::kSkip, TextStart start = TextStart::kNew)
      : tokenizer_(&tokenizer), specials_(specials), at_start_(start != TextStart::kContinued) {}

  // The bytes that the id would contribute if it came next.
  std::string bytes_of(std::int64_t id) const { return at_start_ ? tokenizer_->first_bytes(id) : std::string(tokenizer_->token_bytes(id)); }

  std::string push(std::int64_t id) {
    if (specials_ == SpecialTokens::kSkip && tokenizer_->is_special(id)) return {};
    pending_ += bytes_of(id);
    at_start_ = at_start_ && tokenizer_->token_bytes(id).empty();
    std::string out;
    std::size_t at = 0;
    while (at < pending_.size()) {
      const utf8::Decoded next = utf8::decode(pending_, at);
      if (next.cut) break;
      out += next.valid ? std::string_view(pending_).substr(at, next.bytes) : utf8::kReplacement;
      at += next.bytes;
    }
    pending_.erase(0, at);
    return out;
  }

  // A character has begun.
  bool holds() const { return !pending_.empty(); }

  std::string flush() {
    std::string out = utf8::repair(pending_);
    pending_.clear();
    return out;
  }

 private:
  const Tokenizer* tokenizer_;
  SpecialTokens specials_;
  bool at_start_;
  std::string pending_;  // at most the first three bytes of a character
};

}  // namespace winnow
