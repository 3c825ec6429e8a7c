#include "engine/weights/gguf_metadata.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace winnow {
namespace {

constexpr std::size_t kMostShownBytes = 100;  // of a key in a sentence

template <typename Number>
Number number_at(const std::string& bytes, std::size_t index) {
  Number number{};
  std::memcpy(&number, bytes.data() + index * sizeof number, sizeof number);
  return number;
}

std::string number_text(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 6).ptr};
}

}  // namespace

std::size_t gguf_value_bytes(GgufType type) {
  switch (type) {
    case GgufType::kUint8:
    case GgufType::kInt8:
    case GgufType::kBool: return 1;
    case GgufType::kUint16:
    case GgufType::kInt16: return 2;
    case GgufType::kUint32:
    case GgufType::kInt32:
    case GgufType::kFloat32: return 4;
    case GgufType::kUint64:
    case GgufType::kInt64:
    case GgufType::kFloat64: return 8;
    case GgufType::kString:
    case GgufType::kArray: return 0;
  }
  return 0;
}

GgufMetadata::GgufMetadata(std::string path, Values values) : path_(std::move(path)), values_(std::move(values)) {}

bool GgufMetadata::has(std::string_view key) const { return values_.contains(key); }

bool GgufMetadata::is_list(std::string_view key) const {
  const auto found = values_.find(key);
  return found != values_.end() && found->second.is_list;
}

std::string GgufMetadata::string(std::string_view key) const {
  const GgufValue& found = scalar(key);
  if (found.type != GgufType::kString) refuse(ErrorCode::kDamagedFile, key, "it must be text");
  return found.bytes;
}

std::string GgufMetadata::string(std::string_view key, std::string fallback) const { return has(key) ? string(key) : std::move(fallback); }

std::int64_t GgufMetadata::integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  const std::int64_t number = integer_at(scalar(key), 0, key);
  if (number > most) {
    refuse(ErrorCode::kLimitExceeded, key, "it is " + std::to_string(number) + ", more than the limit of " + std::to_string(most));
  }
  if (number < least) refuse(ErrorCode::kDamagedFile, key, "it is " + std::to_string(number) + ", less than " + std::to_string(least));
  return number;
}

std::int64_t GgufMetadata::integer(std::string_view key, std::int64_t least, std::int64_t most, std::int64_t fallback) const {
  return has(key) ? integer(key, least, most) : fallback;
}

double GgufMetadata::real(std::string_view key, double least, double most) const {
  const GgufValue& found = scalar(key);
  if (found.type == GgufType::kString || found.type == GgufType::kBool) refuse(ErrorCode::kDamagedFile, key, "it must be a number");
  double number = 0;
  if (found.type == GgufType::kFloat32) {
    number = number_at<float>(found.bytes, 0);
  } else if (found.type == GgufType::kFloat64) {
    number = number_at<double>(found.bytes, 0);
  } else {
    number = static_cast<double>(integer_at(found, 0, key));
  }
  if (!std::isfinite(number)) refuse(ErrorCode::kDamagedFile, key, "it must be finite");
  if (number > most)
    refuse(ErrorCode::kLimitExceeded, key, "it is " + number_text(number) + ", more than the limit of " + number_text(most));
  if (number < least) refuse(ErrorCode::kDamagedFile, key, "it is " + number_text(number) + ", less than " + number_text(least));
  return number;
}

double GgufMetadata::real(std::string_view key, double least, double most, double fallback) const {
  return has(key) ? real(key, least, most) : fallback;
}

bool GgufMetadata::boolean(std::string_view key, bool fallback) const {
  if (!has(key)) return fallback;
  const GgufValue& found = scalar(key);
  if (found.type != GgufType::kBool) refuse(ErrorCode::kDamagedFile, key, "it must be true or false");
  return found.bytes[0] != '\0';
}

std::size_t GgufMetadata::length(std::string_view key) const { return static_cast<std::size_t>(list(key).count); }

std::vector<std::string> GgufMetadata::strings(std::string_view key) const {
  const GgufValue& found = list(key);
  if (found.type != GgufType::kString) refuse(ErrorCode::kDamagedFile, key, "it must be a list of texts");
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(found.count));
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < found.count; ++i) {
    std::uint64_t size = 0;
    std::memcpy(&size, found.bytes.data() + at, sizeof size);
    texts.emplace_back(found.bytes, at + sizeof size, static_cast<std::size_t>(size));
    at += sizeof size + static_cast<std::size_t>(size);
  }
  return texts;
}

std::vector<std::int64_t> GgufMetadata::integers(std::string_view key) const {
  const GgufValue& found = list(key);
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(found.count));
  for (std::size_t i = 0; i < found.count; ++i) {
    numbers.push_back(found.type == GgufType::kBool ? found.bytes[i] : integer_at(found, i, key));
  }
  return numbers;
}

std::vector<float> GgufMetadata::reals(std::string_view key) const {
  const GgufValue& found = list(key);
  const bool single = found.type == GgufType::kFloat32;
  if (!single && found.type != GgufType::kFloat64) refuse(ErrorCode::kDamagedFile, key, "it must be a list of real numbers");
  std::vector<float> numbers;
  numbers.reserve(static_cast<std::size_t>(found.count));
  for (std::size_t i = 0; i < found.count; ++i) {
    numbers.push_back(single ? number_at<float>(found.bytes, i) : static_cast<float>(number_at<double>(found.bytes, i)));
  }
  return numbers;
}

std::string GgufMetadata::subject(std::string_view key) const {
  return path_ + ": " + std::string(key.substr(0, kMostShownBytes)) + (key.size() > kMostShownBytes ? "..." : "");
}

void GgufMetadata::refuse(ErrorCode code, std::string_view key, const std::string& reason) const {
  throw Exception(code, subject(key), reason);
}

const GgufValue& GgufMetadata::value(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) refuse(ErrorCode::kDamagedFile, key, "it is missing");
  return found->second;
}

const GgufValue& GgufMetadata::scalar(std::string_view key) const {
  const GgufValue& found = value(key);
  if (found.is_list) refuse(ErrorCode::kDamagedFile, key, "it must not be a list");
  return found;
}

const GgufValue& GgufMetadata::list(std::string_view key) const {
  const GgufValue& found = value(key);
  if (!found.is_list) refuse(ErrorCode::kDamagedFile, key, "it must be a list");
  return found;
}

std::int64_t GgufMetadata::integer_at(const GgufValue& value, std::size_t index, std::string_view key) const {
  switch (value.type) {
    case GgufType::kUint8: return number_at<std::uint8_t>(value.bytes, index);
    case GgufType::kInt8: return number_at<std::int8_t>(value.bytes, index);
    case GgufType::kUint16: return number_at<std::uint16_t>(value.bytes, index);
    case GgufType::kInt16: return number_at<std::int16_t>(value.bytes, index);
    case GgufType::kUint32: return number_at<std::uint32_t>(value.bytes, index);
    case GgufType::kInt32: return number_at<std::int32_t>(value.bytes, index);
    case GgufType::kInt64: return number_at<std::int64_t>(value.bytes, index);
    case GgufType::kUint64: {
      const auto number = number_at<std::uint64_t>(value.bytes, index);
      if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        refuse(ErrorCode::kLimitExceeded, key, "it is " + std::to_string(number) + ", more than the limit of 9223372036854775807");
      }
      return static_cast<std::int64_t>(number);
    }
    default: refuse(ErrorCode::kDamagedFile, key, value.is_list ? "it must be a list of integers" : "it must be an integer");
  }
}

}  // namespace winnow
