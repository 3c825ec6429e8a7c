// Bounded JSON: text of untrusted files to a document, and typed, range-checked fields of it.
//
// Used by engine/text (tokenizer, chat template), engine/weights (index), engine/models (configurations) and by app for questions and their
// logs. Parsing is event driven with our own handler, never recursive, and stops at the first of: too many bytes, too deep, too many
// values, a key that occurs twice in one object (nlohmann keeps the last silently), invalid UTF-8, a NUL byte, trailing text. Numbers keep
// the type they were written with: -1 never becomes 2^64-1 and 1.9 never becomes 1. Errors: Exception; kDamagedFile (not JSON, wrong type,
// missing, below the minimum), kLimitExceeded (a cap, above the maximum). The subject is "<file>: <key.path>". Threads: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace winnow {

using Json = nlohmann::json;

struct JsonLimits {
  std::uint64_t max_bytes = std::uint64_t{1} << 20;
  int max_depth = 64;                    // of nested arrays and objects
  std::size_t max_elements = 1'000'000;  // values of every kind, containers included
};

// subject: the file that the text came from, for errors.
Json parse_json(std::string_view text, const std::string& subject, const JsonLimits& limits = {});
Json load_json(const std::string& path, const JsonLimits& limits = {});

// The same, with object members in the order of the text, for documents that are written again.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& subject, const JsonLimits& limits = {});

// Refuses what nlohmann's reader accepts beyond JSON (a NUL counts as the end of the text, a byte order mark is skipped).
void require_plain_json_text(std::string_view text, const std::string& subject);

// For handlers of nlohmann::json::sax_parse: a reason that quotes no bytes of the file.
[[noreturn]] void throw_json_syntax_error(const std::string& subject, std::size_t position, const char* parser_message);

// Fields of one JSON object, read with their type and range. Borrows the Json, which must outlive it. A member that is null counts as
// absent (Hugging Face writes null for "not set"). Without a fallback an absent member is an error.
class JsonObject {
 public:
  // path: keys from the root joined by dots; empty for the root. Throws if `value` is not an object.
  JsonObject(const Json& value, std::string file, std::string path = "");

  const std::string& file() const noexcept { return file_; }
  bool has(const char* key) const;
  bool says(const char* key) const;  // null included: for keys whose default is not "not set"
  std::optional<std::string> first_present(std::initializer_list<const char*> keys) const;

  std::int64_t integer(const char* key, std::int64_t min, std::int64_t max) const;
  std::int64_t integer(const char* key, std::int64_t min, std::int64_t max, std::int64_t fallback) const;
  std::uint64_t natural(const char* key) const;  // up to 2^64 - 1: seeds
  std::uint64_t natural(const char* key, std::uint64_t fallback) const;
  double real(const char* key, double min, double max) const;  // an integer is a real, too
  double real(const char* key, double min, double max, double fallback) const;
  bool boolean(const char* key) const;
  bool boolean(const char* key, bool fallback) const;
  std::string string(const char* key, std::size_t max_bytes) const;
  std::string string(const char* key, std::size_t max_bytes, std::string fallback) const;
  JsonObject object(const char* key) const;
  std::optional<JsonObject> optional_object(const char* key) const;
  std::vector<std::int64_t> integers(const char* key, std::int64_t min, std::int64_t max, std::size_t max_count) const;
  std::vector<double> reals(const char* key, double min, double max, std::size_t max_count) const;
  std::vector<std::string> strings(const char* key, std::size_t max_bytes, std::size_t max_count) const;
  const Json& list(const char* key, std::size_t max_count) const;
  const Json& value(const char* key) const;  // of any type; throws when absent

  std::string subject(std::string_view key) const;
  [[noreturn]] void refuse(ErrorCode code, std::string_view key, const std::string& reason) const;

 private:
  std::int64_t checked_integer(const Json& value, std::string_view key, std::int64_t min, std::int64_t max) const;
  double checked_real(const Json& value, std::string_view key, double min, double max) const;
  const std::string& checked_string(const Json& value, std::string_view key, std::size_t max_bytes) const;

  const Json* value_;  // borrowed, never null
  std::string file_;
  std::string path_;
};

}  // namespace winnow
