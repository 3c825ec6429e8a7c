// Small GGUF files for tests, as good or as wrong as a test needs them.
//
// Values and tensors are written in the order they are given. A tensor's offset follows from the data before it unless it is named, so that
// files can be made whose table lies. Numbers of types are the format's (engine/weights/gguf_metadata.h, gguf_header.cpp).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/weights/gguf_metadata.h"

namespace winnow::test {

inline constexpr std::uint32_t kGgufF32 = 0;  // a tensor's type

class GgufWriter {
 public:
  std::uint32_t version = 3;
  std::optional<std::uint64_t> tensor_count;  // what the header says instead of how many there are
  std::optional<std::uint64_t> key_count;
  std::uint64_t alignment = 32;  // of the data; "general.alignment" is a value like others

  template <typename Number>
  static std::string number(Number value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  static std::string sized(std::string_view text) { return number<std::uint64_t>(text.size()).append(text); }

  // bytes: what stands behind the type's number.
  GgufWriter& value(std::string_view key, GgufType type, std::string_view bytes) {
    values_ += sized(key) + number(type);
    values_ += bytes;
    ++keys_;
    return *this;
  }
  GgufWriter& text(std::string_view key, std::string_view text) { return value(key, GgufType::kString, sized(text)); }
  GgufWriter& uint32(std::string_view key, std::uint32_t number_value) { return value(key, GgufType::kUint32, number(number_value)); }
  GgufWriter& uint16(std::string_view key, std::uint16_t number_value) { return value(key, GgufType::kUint16, number(number_value)); }
  GgufWriter& int32(std::string_view key, std::int32_t number_value) { return value(key, GgufType::kInt32, number(number_value)); }
  GgufWriter& float32(std::string_view key, float number_value) { return value(key, GgufType::kFloat32, number(number_value)); }
  GgufWriter& boolean(std::string_view key, bool truth) { return value(key, GgufType::kBool, number(truth)); }
  // elements: their bytes, one after the other.
  GgufWriter& list(std::string_view key, GgufType type, std::uint64_t count, std::string_view elements) {
    return value(key, GgufType::kArray, (number(type) + number(count)).append(elements));
  }
  GgufWriter& texts(std::string_view key, const std::vector<std::string>& texts) {
    std::string elements;
    for (const std::string& text : texts) elements += sized(text);
    return list(key, GgufType::kString, texts.size(), elements);
  }
  GgufWriter& int32s(std::string_view key, const std::vector<std::int32_t>& numbers) {
    std::string elements;
    for (const std::int32_t one : numbers) elements += number(one);
    return list(key, GgufType::kInt32, numbers.size(), elements);
  }
  GgufWriter& float32s(std::string_view key, const std::vector<float>& numbers) {
    std::string elements;
    for (const float one : numbers) elements += number(one);
    return list(key, GgufType::kFloat32, numbers.size(), elements);
  }

  // dims: innermost first. data: padded to the alignment.
  GgufWriter& tensor(std::string_view name, std::initializer_list<std::uint64_t> dims, std::uint32_t type, std::string_view data,
                     std::optional<std::uint64_t> offset = std::nullopt) {
    infos_ += sized(name) + number(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t dim : dims) infos_ += number(dim);
    infos_ += number(type) + number(offset.value_or(data_.size()));
    data_ += data;
    pad(data_);
    ++tensors_;
    return *this;
  }

  std::string bytes() const {
    std::string file = "GGUF" + number(version) + number(tensor_count.value_or(tensors_)) + number(key_count.value_or(keys_));
    file += values_ + infos_;
    if (!data_.empty()) pad(file);
    return file + data_;
  }

 private:
  void pad(std::string& bytes) const { bytes.resize((bytes.size() + alignment - 1) / alignment * alignment); }

  std::string values_;
  std::string infos_;
  std::string data_;
  std::uint64_t keys_ = 0;
  std::uint64_t tensors_ = 0;
};

}  // namespace winnow::test
