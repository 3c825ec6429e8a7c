// The key-value part of a GGUF file: what the model is, its tokenizer, its chat template.
//
// Made by gguf_header.h; read by engine/model_files. A value is kept as the file stores it and becomes a number, text or list when it is
// asked for, so that the memory taken is that of the file's header. Keys are printable ASCII; text is bytes that nobody has checked, UTF-8
// in files of good will. Errors: Exception with "<file>: <key>" as subject; kDamagedFile (missing, of another type, below the minimum),
// kLimitExceeded (above the maximum). Threads: a plain value, const access from several.
// Source: github.com/ggml-org/ggml, docs/gguf.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace winnow {

// Numbers as in the file.
enum class GgufType : std::uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

// Bytes of a value of fixed size; 0 for text, lists and numbers that are no type.
std::size_t gguf_value_bytes(GgufType type);

struct GgufValue {
  GgufType type = GgufType::kUint8;  // of the elements, if it is a list
  bool is_list = false;
  std::uint64_t count = 1;
  std::string bytes{};  // little-endian; a text alone without its length, texts of a list with 8 bytes of length each
};

class GgufMetadata {
 public:
  using Values = std::map<std::string, GgufValue, std::less<>>;

  GgufMetadata() = default;
  // path: of the file, for errors. Values are complete: the reader has checked sizes and lengths.
  GgufMetadata(std::string path, Values values);

  bool has(std::string_view key) const;
  bool is_list(std::string_view key) const;  // false for a missing key, too

  std::string string(std::string_view key) const;
  std::string string(std::string_view key, std::string fallback) const;
  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most, std::int64_t fallback) const;
  double real(std::string_view key, double least, double most) const;  // an integer is a real, too
  double real(std::string_view key, double least, double most, double fallback) const;
  bool boolean(std::string_view key, bool fallback) const;

  std::size_t length(std::string_view key) const;  // of a list, without copying it
  std::vector<std::string> strings(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;  // truth values are 0 and 1
  std::vector<float> reals(std::string_view key) const;            // as stored: infinities and NaN too

  std::string subject(std::string_view key) const;
  [[noreturn]] void refuse(ErrorCode code, std::string_view key, const std::string& reason) const;

 private:
  const GgufValue& value(std::string_view key) const;
  const GgufValue& scalar(std::string_view key) const;
  const GgufValue& list(std::string_view key) const;
  std::int64_t integer_at(const GgufValue& value, std::size_t index, std::string_view key) const;

  std::string path_;
  Values values_;
};

}  // namespace winnow
