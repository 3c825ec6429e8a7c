// The step "pre_tokenizer" of tokenizer.json: how normalised text is cut into words.
//
// Used by the tokenizer. A step that is not known is refused by name, never skipped.
// Errors: Exception kUnsupportedModel, kDamagedFile, kLimitExceeded (more than 16 steps, or a text over 64 MiB between them).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/text/split_pattern.h"
#include "engine/text/step_description.h"
#include "engine/text/text_bounds.h"
#include "engine/text/token_decoder.h"

namespace winnow {

enum class TextStart : int;  // tokenizer.h

class PreTokenizer {
 public:
  // alphabet: of the vocabulary. One of bytes needs a ByteLevel step; text for one of characters need not be split at all.
  PreTokenizer(const Json& description, TokenAlphabet alphabet, const std::string& path);

  // The stand-in for a space before the text.
  enum class Prefix : int { kNone = 1, kFirstText, kEveryText };

  // Text between added tokens, prefix space included if the description asks for one.
  std::string prepare(std::string_view text, TextStart start) const;
  // Cuts prepared text into words. Throws kLimitExceeded past the deadline.
  std::vector<TextPiece> split(std::string_view text, Deadline& deadline) const;

 private:
  void add(const Json& step, const std::string& path, int depth);
  void add_sequence(const Json& step, const std::string& path, int depth);
  // Punctuation as the library has it: Unicode's, and all of ASCII's.
  void add_punctuation(const JsonObject& fields);
  std::vector<SplitPattern>& patterns() { return byte_level_ ? byte_patterns_ : patterns_; }
  void add_split(const JsonObject& fields);
  std::vector<TextPiece> split_bytes(std::string_view text, const std::vector<TextPiece>& pieces, Deadline& deadline) const;
  void add_metaspace(const JsonObject& fields);
  std::string words_with_spaces(std::string_view text, TextStart start) const;

  TokenAlphabet alphabet_;
  std::vector<SplitPattern> patterns_;  // applied one after the other, each to the pieces of the last
  // Those of steps behind ByteLevel (Falcon), which read a character for every byte.
  std::vector<SplitPattern> byte_patterns_;
  bool byte_level_ = false;         // the step has been there
  bool white_space_words_ = false;  // white space is gone, every word between gets Metaspace's prefix
  Prefix prefix_ = Prefix::kNone;
  LiteralReplacement space_;  // from: empty without a Metaspace step
};

}  // namespace winnow
