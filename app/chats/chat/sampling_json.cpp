#include "app/chats/chat/sampling_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "app/chats/chat/figure_json.h"

namespace winnow::app {

namespace {

using Json = nlohmann::json;

template <class Value>
bool fits(const Json& stored, const SamplingField& field) {
  if (std::is_same_v<Value, double> ? !stored.is_number() : !stored.is_number_integer()) return false;
  if (std::is_unsigned_v<Value>) return stored.is_number_unsigned();
  const auto number = stored.get<double>();
  return std::isfinite(number) && number >= field.least && number <= field.most;
}

}  // namespace

QByteArray samplingToJson(const SamplingChoice& choice) {
  return choice.empty() ? QByteArray() : QByteArray::fromStdString(fieldsToJson(choice).dump());
}

SamplingChoice samplingFromJson(const QByteArray& text) {
  SamplingChoice choice;
  const Json json = parsedJson(text);
  if (!json.is_object()) return choice;
  visit_choices(choice, [&json](const SamplingField& field, auto& value) {
    using Value = typename std::remove_reference_t<decltype(value)>::value_type;
    const auto stored = json.find(field.name);
    if (stored != json.end() && fits<Value>(*stored, field)) value = stored->template get<Value>();
  });
  return choice;
}

}  // namespace winnow::app
