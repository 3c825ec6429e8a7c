// One value of a message in its encoded form and back: a template over message_fields.h. Private to wire.cpp and its tests.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/error.h"
#include "engine/messages/message_fields.h"

namespace winnow::wire {

static_assert(std::endian::native == std::endian::little, "byte strings hold little-endian elements");

using Value = nlohmann::json;

// Where a value stands, for refusals: "turn.recipe.seed".
struct Path {
  const Path* parent = nullptr;
  const char* name = "";

  std::string text() const {
    const std::string before = parent == nullptr ? std::string() : parent->text();
    return before.empty() ? name : before + "." + name;
  }
};

[[noreturn]] inline void refuse(const Path& at, const char* reason) {
  throw Exception(ErrorCode::kDamagedFile, "wire: " + at.text(), reason);
}

// The largest value of an enumeration; all begin at 1 and may have gaps.
template <class Enum>
inline constexpr int kLast = 0;
template <>
inline constexpr int kLast<Role> = static_cast<int>(Role::kAssistant);
template <>
inline constexpr int kLast<Thinking> = static_cast<int>(Thinking::kOff);
template <>
inline constexpr int kLast<Device> = static_cast<int>(Device::kCuda);
template <>
inline constexpr int kLast<WeightFormat> = static_cast<int>(WeightFormat::kInt4);
template <>
inline constexpr int kLast<Guard> = static_cast<int>(Guard::kAlone);
template <>
inline constexpr int kLast<TurnPolicy> = static_cast<int>(TurnPolicy::kFirstOnly);
template <>
inline constexpr int kLast<ExportLogits> = static_cast<int>(ExportLogits::kAllPositions);
template <>
inline constexpr int kLast<ColumnScores> = static_cast<int>(ColumnScores::kAll);
template <>
inline constexpr int kLast<ColumnOrder> = static_cast<int>(ColumnOrder::kInterleaved);
template <>
inline constexpr int kLast<MediaKind> = static_cast<int>(MediaKind::kDocument);
template <>
inline constexpr int kLast<NoticeCode> = 999;  // of a later program: told by its number
template <>
inline constexpr int kLast<ErrorCode> = 999;
template <>
inline constexpr int kLast<Phase> = static_cast<int>(Phase::kProbe);
template <>
inline constexpr int kLast<TextKind> = static_cast<int>(TextKind::kThought);
template <>
inline constexpr int kLast<Modality> = static_cast<int>(kLastModality);
template <>
inline constexpr int kLast<CompressionNote> = static_cast<int>(CompressionNote::kSystemJoinsQuestion);
template <>
inline constexpr int kLast<StopReason> = static_cast<int>(StopReason::kInterrupted);

template <class T>
inline constexpr bool kIsElement = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// All of its fields are numbers or enumerations: a list of them is stored by columns.
template <class T>
consteval bool has_columns() {
  bool all = HasFields<T>;
  if constexpr (HasFields<T> && std::is_trivially_copyable_v<T>) {
    T value{};
    visit_fields(value, [&](const char*, const auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      all = all && (kIsElement<Field> || std::is_enum_v<Field>);
    });
    return all;
  }
  return false;
}

template <class T>
Value bytes_of(const T* elements, std::size_t count) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(elements);
  return Value::binary(std::vector<std::uint8_t>(first, first + count * sizeof(T)));
}

template <class T>
void read_elements(const Value& from, std::vector<T>& into, const Path& at) {
  if (!from.is_binary() || from.get_binary().size() % sizeof(T) != 0) refuse(at, "must be a byte string of whole elements");
  const auto& bytes = from.get_binary();
  into.resize(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(into.data(), bytes.data(), bytes.size());
}

template <class T>
Value written(const T& value);
template <class T>
void read(const Value& from, T& into, const Path& at);

template <class T>
Value written_columns(const std::vector<T>& list) {
  Value columns = {{"count", list.size()}};
  T shape{};
  visit_fields(shape, [&](const char* name, auto& in_shape) {
    using Field = std::remove_cvref_t<decltype(in_shape)>;
    const std::size_t offset = reinterpret_cast<const char*>(&in_shape) - reinterpret_cast<const char*>(&shape);
    std::vector<Field> column(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) std::memcpy(&column[i], reinterpret_cast<const char*>(&list[i]) + offset, sizeof(Field));
    columns[name] = bytes_of(column.data(), column.size());
  });
  return columns;
}

template <class T>
void read_columns(const Value& from, std::vector<T>& list, const Path& at) {
  const auto count = from.is_object() ? from.find("count") : from.end();
  if (count == from.end() || !count->is_number_unsigned()) refuse(at, "must be columns with a count");
  std::optional<std::size_t> rows;
  T shape{};
  visit_fields(shape, [&](const char* name, auto& in_shape) {
    using Field = std::remove_cvref_t<decltype(in_shape)>;
    const auto found = from.find(name);
    if (found == from.end()) return;
    std::vector<Field> column;
    const Path here{&at, name};
    if constexpr (std::is_enum_v<Field>) {
      std::vector<std::underlying_type_t<Field>> codes;
      read_elements(*found, codes, here);
      for (const auto code : codes) {
        if (code < 1 || code > kLast<Field>) refuse(here, "has a value that is not known");
        column.push_back(static_cast<Field>(code));
      }
    } else {
      read_elements(*found, column, here);
    }
    // Nothing is allocated for a count that no column bears out.
    if (column.size() != count->template get<std::size_t>()) refuse(here, "has another number of elements than there are rows");
    if (!rows) list.assign(column.size(), T{});
    rows = column.size();
    const std::size_t offset = reinterpret_cast<const char*>(&in_shape) - reinterpret_cast<const char*>(&shape);
    for (std::size_t i = 0; i < column.size(); ++i) std::memcpy(reinterpret_cast<char*>(&list[i]) + offset, &column[i], sizeof(Field));
  });
  if (!rows && count->template get<std::size_t>() != 0) refuse(at, "has a count and no columns");
}

template <class T>
void read_number(const Value& from, T& into, const Path& at) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!from.is_boolean()) refuse(at, "must be true or false");
    into = from.get<bool>();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!from.is_number()) refuse(at, "must be a number");
    into = from.get<T>();
  } else if constexpr (std::is_unsigned_v<T>) {
    if (!from.is_number_unsigned() || from.get<std::uint64_t>() > std::numeric_limits<T>::max())
      refuse(at, "must be a natural number in range");
    into = static_cast<T>(from.get<std::uint64_t>());
  } else {
    const bool large = from.is_number_unsigned() && from.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (!from.is_number_integer() || large) refuse(at, "must be an integer in range");
    const auto number = from.get<std::int64_t>();
    if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max()) refuse(at, "must be an integer in range");
    into = static_cast<T>(number);
  }
}

template <class T>
Value written(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string> || std::is_same_v<T, std::map<std::string, std::string>>) {
    return value;
  } else if constexpr (std::is_same_v<T, std::chrono::steady_clock::time_point>) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(value.time_since_epoch()).count();
  } else if constexpr (std::is_same_v<T, std::pair<std::string, double>>) {
    return Value::array({value.first, value.second});
  } else if constexpr (std::is_same_v<T, Item>) {
    return std::visit([](const auto& item) { return written(item); }, value);
  } else if constexpr (kIsOptional<T>) {
    return value ? written(*value) : Value();
  } else if constexpr (kIsVector<T>) {
    using Element = typename T::value_type;
    if constexpr (kIsElement<Element>) {
      return bytes_of(value.data(), value.size());
    } else if constexpr (has_columns<Element>()) {
      return written_columns(value);
    } else {
      Value list = Value::array();
      for (const Element& each : value) list.push_back(written(each));
      return list;
    }
  } else {
    Value object = Value::object();
    visit_fields(value, [&](const char* name, const auto& field) { object[name] = written(field); });
    return object;
  }
}

template <class T>
void read(const Value& from, T& into, const Path& at) {
  if constexpr (std::is_enum_v<T>) {
    static_assert(kLast<T> > 0, "say the largest value of this enumeration");
    int code = 0;
    read_number(from, code, at);
    if (code < 1 || code > kLast<T>) refuse(at, "is a value that is not known");
    into = static_cast<T>(code);
  } else if constexpr (std::is_arithmetic_v<T>) {
    read_number(from, into, at);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!from.is_string()) refuse(at, "must be text");
    into = from.get<std::string>();
  } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
    if (!from.is_object()) refuse(at, "must be a map of texts");
    into.clear();
    for (const auto& [name, text] : from.items()) read(text, into[name], Path{&at, name.c_str()});
  } else if constexpr (std::is_same_v<T, std::chrono::steady_clock::time_point>) {
    std::int64_t nanoseconds = 0;
    read_number(from, nanoseconds, at);
    into = T(std::chrono::duration_cast<typename T::duration>(std::chrono::nanoseconds(nanoseconds)));
  } else if constexpr (std::is_same_v<T, std::pair<std::string, double>>) {
    if (!from.is_array() || from.size() != 2) refuse(at, "must be a name and a number");
    read(from[0], into.first, at);
    read(from[1], into.second, at);
  } else if constexpr (std::is_same_v<T, Item>) {
    if (!from.is_object()) refuse(at, "must be a map");
    if (from.contains("media")) {
      read(from, into.template emplace<MediaItem>(), at);
    } else {
      read(from, into.template emplace<TextItem>(), at);
    }
  } else if constexpr (kIsOptional<T>) {
    into.reset();
    if (!from.is_null()) read(from, into.emplace(), at);
  } else if constexpr (kIsVector<T>) {
    using Element = typename T::value_type;
    if constexpr (kIsElement<Element>) {
      read_elements(from, into, at);
    } else if constexpr (has_columns<Element>()) {
      read_columns(from, into, at);
    } else {
      if (!from.is_array()) refuse(at, "must be a list");
      into.clear();
      for (const Value& each : from) read(each, into.emplace_back(), at);
    }
  } else {
    if (!from.is_object()) refuse(at, "must be a map");
    visit_fields(into, [&](const char* name, auto& field) {
      if (const auto found = from.find(name); found != from.end()) read(*found, field, Path{&at, name});
    });
  }
}

}  // namespace winnow::wire
