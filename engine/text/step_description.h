// Steps of tokenizer.json: an object with its kind in "type", and sequences of them.
//
// Used by the normalizer and the pre-tokenizer. Errors: Exception kDamagedFile, kLimitExceeded.
#pragma once

#include <string>

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

}  // namespace winnow
