// The form that message_fields.h has on the wire (field_values.h): what is different there is how lists of numbers are packed. Private to
// wire.cpp, its tests, and protocols beside the engine's that are made of tables of fields, too (app/media/files/process).
#pragma once

#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "engine/messages/field_values.h"

namespace winnow::wire {

static_assert(std::endian::native == std::endian::little, "byte strings hold little-endian elements");

using fields::kIsElement;
using fields::kLast;
using fields::Path;
using fields::refused;
using Value = nlohmann::json;

inline constexpr Path kRoot{nullptr, "wire"};

struct WireForm;

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
bool read_elements(const Value& from, std::vector<T>& into, const Path& at) {
  if (!from.is_binary() || from.get_binary().size() % sizeof(T) != 0) refused<WireForm>(at, "must be a byte string of whole elements");
  const auto& bytes = from.get_binary();
  into.resize(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(into.data(), bytes.data(), bytes.size());
  return true;
}

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
bool read_columns(const Value& from, std::vector<T>& list, const Path& at) {
  const auto count = from.is_object() ? from.find("count") : from.end();
  if (count == from.end() || !count->is_number_unsigned()) refused<WireForm>(at, "must be columns with a count");
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
        if (code < 1 || code > kLast<Field>) refused<WireForm>(here, "has a value that is not known");
        column.push_back(static_cast<Field>(code));
      }
    } else {
      read_elements(*found, column, here);
    }
    // Nothing is allocated for a count that no column bears out.
    if (column.size() != count->template get<std::size_t>()) refused<WireForm>(here, "has another number of elements than there are rows");
    if (!rows) list.assign(column.size(), T{});
    rows = column.size();
    const std::size_t offset = reinterpret_cast<const char*>(&in_shape) - reinterpret_cast<const char*>(&shape);
    for (std::size_t i = 0; i < column.size(); ++i) std::memcpy(reinterpret_cast<char*>(&list[i]) + offset, &column[i], sizeof(Field));
  });
  if (!rows && count->template get<std::size_t>() != 0) refused<WireForm>(at, "has a count and no columns");
  return true;
}

// Lists of numbers are byte strings, lists of structs of numbers are columns of such.
struct WireForm {
  using Json = Value;

  template <class T>
  requires kIsElement<T>
  static Value written(const char* /*name*/, const std::vector<T>& list) { return bytes_of(list.data(), list.size()); }
  template <class T>
  requires(has_columns<T>()) static Value written(const char* /*name*/, const std::vector<T>& list) { return written_columns(list); }

  template <class T>
  requires kIsElement<T>
  static bool read(const Value& from, std::vector<T>& list, const Path& at) { return read_elements(from, list, at); }
  template <class T>
  requires(has_columns<T>()) static bool read(const Value& from, std::vector<T>& list, const Path& at) {
    return read_columns(from, list, at);
  }
};

// Size, depth and number of values are bounded before anything is kept. Errors: kLimitExceeded, kDamagedFile.
Value parsed(std::span<const std::uint8_t> bytes);

template <HasFields T>
std::vector<std::uint8_t> encoded_fields(const T& value) {
  return Value::to_cbor(fields::written_fields<WireForm>(value));
}
template <HasFields T>
T decoded_fields(std::span<const std::uint8_t> bytes) {
  T value{};
  fields::read_fields<WireForm>(parsed(bytes), value, kRoot);
  return value;
}

}  // namespace winnow::wire
