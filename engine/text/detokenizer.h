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
  // The tokenizer must outlive this.
  explicit Detokenizer(const Tokenizer& tokenizer, SpecialTokens specials = SpecialTokens::kSkip)
      : tokenizer_(&tokenizer), specials_(specials) {}

  std::string push(std::int64_t id) {
    if (specials_ == SpecialTokens::kSkip && tokenizer_->is_special(id)) return {};
    const std::string_view bytes = tokenizer_->token_bytes(id);
    if (at_start_ && !bytes.empty()) {
      pending_ += tokenizer_->first_bytes(id);
      at_start_ = false;
    } else {
      pending_ += bytes;
    }
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
  bool at_start_ = true;
  std::string pending_;  // at most the first three bytes of a character
};

}  // namespace winnow
