// One text put in the place of another, wherever it occurs: the step Replace of tokenizer.json.
//
// Used by the normalizer (a space becomes U+2581) and the decoder (and a space again).
// Errors: Exception. read(): kUnsupportedModel (a regular expression), kDamagedFile, kLimitExceeded (texts over 64 bytes). apply():
// kLimitExceeded (a result over 64 MiB), before it is made.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/json_document.h"

namespace winnow {

struct LiteralReplacement {
  std::string from;  // not empty
  std::string to;

  static LiteralReplacement read(const JsonObject& step);
  std::string apply(std::string_view text) const;
};

}  // namespace winnow
