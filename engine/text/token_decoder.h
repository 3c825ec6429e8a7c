// Turns tokens into text: the decoder of tokenizer.json.
//
// Used by the tokenizer. Knows ByteLevel (a token is bytes in the byte alphabet), and of tokenizers made from SentencePiece (a token is
// characters, U+2581 a space, "<0x0A>" a byte) Metaspace and sequences of Replace, Metaspace, ByteFallback, Fuse and Strip.
// Errors: Exception kUnsupportedModel (another decoder, by name), kDamagedFile, kLimitExceeded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/text/step_description.h"

namespace winnow {

// The alphabet of a vocabulary's texts.
enum class TokenAlphabet : int { kBytes = 1, kCharacters = 2 };

// The treatment of spaces that the first token of a text begins with or, with Metaspace, that it holds: encoders put one there.
enum class FirstSpaces : int { kKept = 1, kOneGoes = 2, kAllGo = 3 };

class TokenDecoder {
 public:
  TokenDecoder(const Json& description, const std::string& path);

  TokenAlphabet alphabet() const noexcept { return alphabet_; }
  FirstSpaces first_spaces() const noexcept { return first_spaces_; }
  std::string bytes_of(std::string_view token_text) const;
  // Spaces of what a token is were U+2581 in its text, or what Metaspace has in its place.
  bool makes_spaces_of(std::string_view token_text) const;

 private:
  void add(const Json& step, const std::string& path);
  void add_metaspace(const JsonObject& fields);

  TokenAlphabet alphabet_ = TokenAlphabet::kCharacters;
  std::vector<LiteralReplacement> replacements_;
  bool byte_fallback_ = false;
  bool fused_ = false;
  FirstSpaces first_spaces_ = FirstSpaces::kKept;
};

}  // namespace winnow
