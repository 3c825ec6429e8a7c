#include "app/chat/figure_json.h"

namespace winnow::app {

using Json = nlohmann::json;

Json parsedJson(const QByteArray& text) { return Json::parse(text.constData(), text.constData() + text.size(), nullptr, false); }

Json fieldToJson(const SlotCounts& counts) {
  Json json = Json::array();
  visit_fields(counts, [&](const char*, double count) { json.push_back(count); });
  return json;
}

Json fieldToJson(const NamedNumbers& numbers) {
  Json json = Json::array();
  for (const auto& [name, value] : numbers) json.push_back({name, value});
  return json;
}

void fieldFromJson(const Json& json, SlotCounts& counts) {
  counts = {};
  if (!json.is_array() || json.size() < 3 || json.size() > 4) return;  // images were not counted at first
  std::size_t place = 0;
  visit_fields(counts, [&](const char*, double& count) {
    if (place < json.size()) fieldFromJson(json[place], count);
    ++place;
  });
}

void fieldFromJson(const Json& json, NamedNumbers& numbers) {
  numbers.clear();
  if (!json.is_array()) return;
  for (const Json& pair : json) {
    if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_number())
      numbers.emplace_back(pair[0].get<std::string>(), pair[1].get<double>());
  }
}

void fieldFromJson(const Json& json, std::string& text) {
  if (json.is_string()) json.get_to(text);
}

void fieldFromJson(const Json& json, std::vector<std::int64_t>& numbers) {
  numbers.clear();
  if (!json.is_array()) return;
  for (const Json& value : json) numbers.push_back(value.is_number_integer() ? value.get<std::int64_t>() : 0);
}

void fieldFromJson(const Json& json, std::vector<double>& numbers) {
  numbers.clear();
  if (!json.is_array()) return;
  for (const Json& value : json) numbers.push_back(value.is_number() ? value.get<double>() : 0.0);
}

}  // namespace winnow::app
