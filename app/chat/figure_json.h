// Figures as JSON by their lists of fields (engine/metrics/fields_of.h), both directions, as saved chats have them.
//
// Used by run_json and agreement_json. What is absent is left out; reading forgives: a member that is missing or of another type leaves the
// field as it is. Slot counts are [visual, text, generated, image]; named numbers are [["entropy", 0.41], ..]. Threads: any.
#pragma once

#include <QByteArray>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/metrics/agreement.h"
#include "engine/metrics/figures.h"
#include "engine/metrics/selection_figures.h"

namespace winnow::app {

using NamedNumbers = std::vector<std::pair<std::string, double>>;

nlohmann::json fieldToJson(const SlotCounts& counts);
nlohmann::json fieldToJson(const NamedNumbers& numbers);
void fieldFromJson(const nlohmann::json& json, SlotCounts& counts);
void fieldFromJson(const nlohmann::json& json, NamedNumbers& numbers);
void fieldFromJson(const nlohmann::json& json, std::string& text);
void fieldFromJson(const nlohmann::json& json, std::vector<std::int64_t>& numbers);
void fieldFromJson(const nlohmann::json& json, std::vector<double>& numbers);

template <class Number>
requires std::is_arithmetic_v<Number>
void fieldFromJson(const nlohmann::json& json, Number& number) {
  if (json.is_number()) json.get_to(number);
}

template <class Number>
void fieldFromJson(const nlohmann::json& json, std::optional<Number>& number) {
  if (json.is_number()) number = json.get<Number>();
}

// Of a text that may be anything; discarded: it is no JSON.
nlohmann::json parsedJson(const QByteArray& text);

template <HasFields Figures>
nlohmann::json fieldsToJson(const Figures& figures);
template <HasFields Figures>
void fieldsFromJson(const nlohmann::json& json, Figures& figures);

template <HasFields Figures>
void fieldFromJson(const nlohmann::json& json, std::vector<Figures>& list) {
  if (!json.is_array()) return;
  for (const nlohmann::json& each : json) {
    if (each.is_object()) fieldsFromJson(each, list.emplace_back());
  }
}

// A member of an object into a field.
template <class Field>
void readField(const nlohmann::json& object, const std::string& name, Field& field) {
  if (const auto found = object.find(name); found != object.end()) fieldFromJson(*found, field);
}

// One field into an object.
template <class Field>
void putField(nlohmann::json& object, const std::string& name, const Field& field) {
  if constexpr (requires { fieldToJson(field); }) {
    object[name] = fieldToJson(field);
  } else {
    object[name] = field;
  }
}
template <class Number>
void putField(nlohmann::json& object, const std::string& name, const std::optional<Number>& number) {
  if (number) object[name] = *number;
}
template <HasFields Figures>
void putField(nlohmann::json& object, const std::string& name, const std::vector<Figures>& list) {
  object[name] = nlohmann::json::array();
  for (const Figures& each : list) object[name].push_back(fieldsToJson(each));
}

template <HasFields Figures>
nlohmann::json fieldsToJson(const Figures& figures) {
  nlohmann::json object = nlohmann::json::object();
  visit_fields(figures, [&](const char* name, const auto& field) { putField(object, name, field); });
  return object;
}

template <HasFields Figures>
void fieldsFromJson(const nlohmann::json& json, Figures& figures) {
  visit_fields(figures, [&](const char* name, auto& field) { readField(json, name, field); });
}

}  // namespace winnow::app
