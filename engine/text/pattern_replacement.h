// One text put in the place of whatever a regular expression finds: the step Replace of tokenizer.json with a pattern.
//
// Used by the normalizer (runs of spaces, in files made from SentencePiece models). A match of no characters is one, as in `tokenizers`.
// Errors: Exception. read(): kDamagedFile (no valid pattern), kLimitExceeded (a content over 64 bytes). apply(): kLimitExceeded (a result
// over 64 MiB, a pattern that hits its limits, more than 1.8 s of work).
#pragma once

#include <string>
#include <string_view>

#include "engine/base/json_document.h"
#include "engine/text/split_pattern.h"

namespace winnow {

struct PatternReplacement {
  SplitPattern pattern;
  std::string to;

  static PatternReplacement read(const JsonObject& step);
  // removed_from_start: characters of the match that stands first, where one does.
  struct Result {
    std::string text;
    std::size_t removed_from_start = 0;
  };
  Result apply(std::string_view text) const;
};

}  // namespace winnow
