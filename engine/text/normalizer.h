// The step "normalizer" of tokenizer.json: what text becomes before added tokens of normalised text are looked for in it.
//
// Used by the tokenizer. Knows NFC, NFD, Strip, Prepend, Replace (of a text) and Sequence. Another step is refused by name, never skipped:
// those of SentencePiece's Unigram files (Precompiled, Nmt, NFKC, Replace of a pattern ...) belong to no family that runs here.
// Errors: Exception. Constructor: kUnsupportedModel, kDamagedFile, kLimitExceeded (more than 16 steps). apply(): kLimitExceeded (a text
// over 64 MiB between two steps).
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/text/step_description.h"

namespace winnow {

// Unicode normalisation forms, as the `tokenizers` library computes them.
//
// Stretches below U+0300 (NFC) or U+00C0 (NFD) are in the form already and returned without work on code points. A run of n combining marks
// costs O(n log n). Errors: Exception kLimitExceeded (a stretch of more than 33 million characters).
enum class NormalForm : int { kNfc = 1, kNfd };

// text: valid UTF-8. A character becomes at most four.
std::string normalized(NormalForm form, std::string_view text);

enum class TextStart : int;  // tokenizer.h

class Normalizer {
 public:
  Normalizer(const Json& description, const std::string& path);

  struct Result {
    std::string text;
    // kNew becomes kAfterToken where the first characters are gone: for `tokenizers` it is not the prompt's beginning then.
    TextStart start;
  };
  // text: valid UTF-8. start: a text that goes on another gets no prefix and keeps its first spaces.
  Result apply(std::string_view text, TextStart start) const;

 private:
  struct Prepend {
    std::string text;
  };
  struct Strip {
    bool left = false;
    bool right = false;
  };
  void add(const Json& step, const std::string& path);

  static void run(const NormalForm& form, Result& result);
  static void run(const Prepend& prefix, Result& result);
  static void run(const Strip& strip, Result& result);
  static void run(const LiteralReplacement& replacement, Result& result);

  std::vector<std::variant<NormalForm, Prepend, Strip, LiteralReplacement>> steps_;
};

}  // namespace winnow
