// Values of message_fields.h as JSON and back, by one template over a form: what the wire, kept files, saved chats and the terminal do
// each in their own way. Private to those four and their tests.
//
// A form is a struct of static members. `Json` is what it is made of; the others are optional:
//   Json written(const char* name, const T& value)            a type that this form writes otherwise
//   bool read(const Json& from, T& into, const Path& at)      its other direction; true: it fitted
//   bool leaves_out(const char* name, const T& value)         a field that is not written
//   void check(const char* name, double number, const Path&)  refuses a number by the name of its field
//   kLenient     what does not fit stays as it is, and leaves a list; otherwise it is refused by its path
//   kComplete    what is written has all fields: an absent one is refused, unless it is one that is left out. Null stands for what
//                needs none: an option that is not set, a number that is not finite
// Without them enumerations are their numbers, structs objects by field name, lists arrays, and absent options null. Absent fields keep
// their defaults, unknown ones are skipped. Errors: kDamagedFile, subject = the path. Threads: any.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/error.h"
#include "engine/messages/message_fields.h"

namespace winnow::fields {

// The place of a value, for refusals: "wire: turn.recipe.seed". The root names the source.
struct Path {
  const Path* parent = nullptr;
  const char* name = "";

  std::string text() const {
    if (parent == nullptr) return name;
    return parent->text() + (parent->parent == nullptr ? ": " : ".") + name;
  }
};

// Throws, or says in a lenient form that the value does not fit.
template <class Form>
bool refused(const Path& at, const char* reason) {
  if constexpr (requires { Form::kLenient; }) return false;
  throw Exception(ErrorCode::kDamagedFile, at.text(), reason);
}

// The last value of each enumeration; all begin at 1 and may have gaps. Codes of a later program are told by their numbers.
template <class Enum>
inline constexpr int kLast = static_cast<int>(std::get<Enum>(std::tuple(
    Role::kAssistant, Thinking::kOff, PromptForm::kBareText, Device::kCuda, WeightFormat::kInt4, VisionFormat::kInt8, Guard::kAlone,
    BeforeMethod::kPixelPrune, TurnPolicy::kFirstOnly, ExportLogits::kAllPositions, ColumnScores::kAll, ColumnOrder::kInterleaved,
    MediaKind::kDocument, DetailLevel::kTokens, DetailKind::kBudgets, Ability::kContinue, Phase::kProbe, TextKind::kThought, kLastModality,
    CompressionNote::kSystemJoinsQuestion, StopReason::kInterrupted, NoticeCode{999}, ErrorCode{999})));

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

template <class Form, class T>
typename Form::Json written(const char* name, const T& value);
template <class Form, class T>
bool read(const typename Form::Json& from, T& into, const Path& at);

// The fields of a struct as an object, whatever the form does with the struct as a value.
template <class Form, HasFields T>
typename Form::Json written_fields(const T& value) {
  auto object = Form::Json::object();
  visit_fields(value, [&](const char* name, const auto& field) {
    if constexpr (requires { Form::leaves_out(name, field); }) {
      if (Form::leaves_out(name, field)) return;
    }
    object[name] = written<Form>(name, field);
  });
  return object;
}
// A field of an object, if it is there.
template <class Form, class T>
void read_field(const typename Form::Json& from, const char* name, T& field, const Path& at) {
  const auto found = from.find(name);
  if constexpr (requires { Form::kComplete; }) {
    if (found == from.end() && !Form::leaves_out(name, field)) refused<Form>(Path{&at, name}, "is missing");
    constexpr bool kMayBeNull = kIsOptional<T> || std::is_floating_point_v<T>;
    if (kMayBeNull && found != from.end() && found->is_null()) return;
  }
  if (found == from.end()) return;
  read<Form>(*found, field, Path{&at, name});
}
template <class Form, HasFields T>
bool read_fields(const typename Form::Json& from, T& into, const Path& at) {
  if (!from.is_object()) return refused<Form>(at, "must be a map");
  visit_fields(into, [&](const char* name, auto& field) { read_field<Form>(from, name, field, at); });
  return true;
}

template <class Form, class T>
bool read_number(const typename Form::Json& from, T& into, const Path& at) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!from.is_boolean()) return refused<Form>(at, "must be true or false");
    into = from.template get<bool>();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!from.is_number()) return refused<Form>(at, "must be a number");
    into = from.template get<T>();
  } else if constexpr (std::is_unsigned_v<T>) {
    if (!from.is_number_unsigned() || from.template get<std::uint64_t>() > std::numeric_limits<T>::max())
      return refused<Form>(at, "must be a natural number in range");
    into = static_cast<T>(from.template get<std::uint64_t>());
  } else {
    constexpr auto kMost = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    const bool large = from.is_number_unsigned() && from.template get<std::uint64_t>() > kMost;
    if (!from.is_number_integer() || large) return refused<Form>(at, "must be an integer in range");
    const auto number = from.template get<std::int64_t>();
    if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max())
      return refused<Form>(at, "must be an integer in range");
    into = static_cast<T>(number);
  }
  if constexpr (requires { Form::check(at.name, 0.0, at); }) Form::check(at.name, static_cast<double>(into), at);
  return true;
}

template <class Form, class T>
typename Form::Json written(const char* name, const T& value) {
  using Json = typename Form::Json;
  if constexpr (requires { Form::written(name, value); }) {
    return Form::written(name, value);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else if constexpr (std::is_same_v<T, std::chrono::steady_clock::time_point>) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(value.time_since_epoch()).count();
  } else if constexpr (std::is_same_v<T, std::pair<std::string, double>>) {
    return Json::array({value.first, value.second});
  } else if constexpr (std::is_same_v<T, Item>) {
    return std::visit([&](const auto& item) { return written<Form>(name, item); }, value);
  } else if constexpr (kIsOptional<T>) {
    return value ? written<Form>(name, *value) : Json();
  } else if constexpr (kIsVector<T>) {
    Json list = Json::array();
    for (const auto& each : value) list.push_back(written<Form>(name, each));
    return list;
  } else if constexpr (HasFields<T>) {
    return written_fields<Form>(value);
  } else {
    return value;
  }
}

template <class Form, class T>
bool read_list(const typename Form::Json& from, std::vector<T>& into, const Path& at) {
  into.clear();
  if (!from.is_array()) return refused<Form>(at, "must be a list");
  for (const auto& each : from) {
    if (!read<Form>(each, into.emplace_back(), at) && !std::is_arithmetic_v<T>) into.pop_back();
  }
  return true;
}

template <class Form, class T>
bool read(const typename Form::Json& from, T& into, const Path& at) {
  if constexpr (requires { Form::read(from, into, at); }) {
    return Form::read(from, into, at);
  } else if constexpr (std::is_enum_v<T>) {
    int code = 0;
    if (!read_number<Form>(from, code, at)) return false;
    if (code < 1 || code > kLast<T>) return refused<Form>(at, "is a value that is not known");
    into = static_cast<T>(code);
    return true;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return read_number<Form>(from, into, at);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!from.is_string()) return refused<Form>(at, "must be text");
    into = from.template get<std::string>();
    return true;
  } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
    if (!from.is_object()) return refused<Form>(at, "must be a map of texts");
    into.clear();
    for (const auto& [key, text] : from.items()) {
      if (!text.is_string()) return refused<Form>(Path{&at, key.c_str()}, "must be text");
      into[key] = text.template get<std::string>();
    }
    return true;
  } else if constexpr (std::is_same_v<T, std::chrono::steady_clock::time_point>) {
    std::int64_t nanoseconds = 0;
    if (!read_number<Form>(from, nanoseconds, at)) return false;
    into = T(std::chrono::duration_cast<typename T::duration>(std::chrono::nanoseconds(nanoseconds)));
    return true;
  } else if constexpr (std::is_same_v<T, std::pair<std::string, double>>) {
    if (!from.is_array() || from.size() != 2) return refused<Form>(at, "must be a name and a number");
    return read<Form>(from[0], into.first, at) && read<Form>(from[1], into.second, at);
  } else if constexpr (std::is_same_v<T, Item>) {
    if (!from.is_object()) return refused<Form>(at, "must be a map");
    if (from.contains("media")) return read<Form>(from, into.template emplace<MediaItem>(), at);
    return read<Form>(from, into.template emplace<TextItem>(), at);
  } else if constexpr (kIsOptional<T>) {
    if (from.is_null()) return into.reset(), true;
    typename T::value_type value{};
    if (!read<Form>(from, value, at)) return false;
    into = std::move(value);
    return true;
  } else if constexpr (kIsVector<T>) {
    return read_list<Form>(from, into, at);
  } else {
    return read_fields<Form>(from, into, at);
  }
}

}  // namespace winnow::fields
