// What tokens are as text: the decoder of tokenizer.json.
//
// Used by the tokenizer. Knows ByteLevel (a token is bytes in the byte alphabet) and the Sequence of Replace, ByteFallback, Fuse and Strip
// that tokenizers made from SentencePiece have (a token is characters, U+2581 a space, "<0x0A>" a byte).
// Errors: Exception kUnsupportedModel (another decoder, by name), kDamagedFile, kLimitExceeded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/text/literal_replacement.h"

namespace winnow {

// What the texts of a vocabulary are made of.
enum class TokenAlphabet : int { kBytes = 1, kCharacters = 2 };

class TokenDecoder {
 public:
  TokenDecoder(const Json& description, const std::string& path);

  TokenAlphabet alphabet() const noexcept { return alphabet_; }
  // The space that the encoder puts before a text: the first one of what is decoded goes.
  bool strips_first_space() const noexcept { return strips_first_space_; }
  std::string bytes_of(std::string_view token_text) const;

 private:
  void add(const Json& step, const std::string& path);

  TokenAlphabet alphabet_ = TokenAlphabet::kCharacters;
  std::vector<LiteralReplacement> replacements_;
  bool byte_fallback_ = false;
  bool fused_ = false;
  bool strips_first_space_ = false;
};

}  // namespace winnow
