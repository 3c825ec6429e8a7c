// Steps of tokenizer.json: an object with its kind in "type", sequences of them, and the step Replace.
//
// Used by the normalizer (a space becomes U+2581), the pre-tokenizer and the decoder (and a space again). Errors: Exception kDamagedFile,
// kLimitExceeded.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/json_document.h"

namespace winnow {

inline constexpr std::size_t kMaxSteps = 16;

// what: of the steps, for errors.
inline std::string step_type(const Json& step, const std::string& path, const char* what) {
  if (!step.is_object()) throw Exception(ErrorCode::kDamagedFile, path, std::string(what) + " is not an object");
  return JsonObject(step, path, what).string("type", 64);
}

inline const Json& steps_of(const Json& sequence, const char* key, const std::string& path) {
  const auto found = sequence.find(key);
  if (found == sequence.end() || !found->is_array()) throw Exception(ErrorCode::kDamagedFile, path, std::string(key) + " is not a list");
  if (found->size() > kMaxSteps) throw Exception(ErrorCode::kLimitExceeded, path, std::string(key) + " has more than 16 steps");
  return *found;
}

// One text put in the place of another, wherever it occurs: the step Replace of tokenizer.json.
//
// Errors: Exception. read(): kUnsupportedModel (a regular expression), kDamagedFile, kLimitExceeded (texts over 64 bytes). apply():
// kLimitExceeded (a result over 64 MiB), before it is made.
struct LiteralReplacement {
  std::string from;  // not empty
  std::string to;

  static LiteralReplacement read(const JsonObject& step);
  std::string apply(std::string_view text) const;
};

}  // namespace winnow
