// Figures as JSON by their lists of fields (engine/metrics/fields_of.h), both directions, as saved chats have them.
//
// Used by run_json and agreement_json. What is absent is left out; reading forgives: a member that is missing or of another type leaves the
// field as it is. Slot counts and notices are rows, [visual, text, generated, image] and [code, amount, of, name]; named numbers are
// [["entropy", 0.41], ..]. Threads: any.
#pragma once

#include <QByteArray>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/messages/field_values.h"

namespace winnow::app {

using NamedNumbers = std::vector<std::pair<std::string, double>>;

template <class T>
inline constexpr bool kIsRow = std::is_same_v<T, SlotCounts> || std::is_same_v<T, MediaNotice>;

struct ChatForm {
  using Json = nlohmann::json;
  static constexpr bool kLenient = true;

  template <class Value>
  static bool leaves_out(const char* /*name*/, const std::optional<Value>& value) {
    return !value;
  }

  // Any number for any: what is whole now may have been none in an older version.
  template <class Number>
  requires(std::is_arithmetic_v<Number>) static bool read(const Json& from, Number& number, const fields::Path& /*at*/) {
    return from.is_number() ? (from.get_to(number), true) : false;
  }

  template <class Row>
  requires kIsRow<Row>
  static Json written(const char* /*name*/, const Row& row) {
    Json json = Json::array();
    visit_fields(row, [&](const char* name, const auto& field) { json.push_back(fields::written<ChatForm>(name, field)); });
    return json;
  }
  // The last one may be missing: images were not counted at first.
  template <class Row>
  requires kIsRow<Row>
  static bool read(const Json& from, Row& row, const fields::Path& at) {
    row = {};
    std::size_t fields = 0, read = 0;
    visit_fields(row, [&](const char* /*name*/, auto& field) {
      read += from.is_array() && fields < from.size() && fields::read<ChatForm>(from[fields], field, at) ? 1 : 0;
      ++fields;
    });
    return from.is_array() && read == from.size() && read + 1 >= fields;
  }
};

inline constexpr fields::Path kInChats{nullptr, "chats"};

// Parses a text that may be anything; discarded: it is no JSON.
inline nlohmann::json parsedJson(const QByteArray& text) {
  return nlohmann::json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
}

template <HasFields Figures>
nlohmann::json fieldsToJson(const Figures& figures) {
  return fields::written_fields<ChatForm>(figures);
}
template <HasFields Figures>
void fieldsFromJson(const nlohmann::json& json, Figures& figures) {
  fields::read_fields<ChatForm>(json, figures, kInChats);
}

// A member of an object into a field.
template <class Field>
void readField(const nlohmann::json& object, const std::string& name, Field& field) {
  fields::read_field<ChatForm>(object, name.c_str(), field, kInChats);
}

}  // namespace winnow::app
