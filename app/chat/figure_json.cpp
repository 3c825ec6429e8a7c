#include "app/chat/figure_json.h"

namespace winnow::app {

using Json = nlohmann::json;

Json parsedJson(const QByteArray& text) { return Json::parse(text.constData(), text.constData() + text.size(), nullptr, false); }

Json ChatForm::written(const char* /*name*/, const SlotCounts& counts) {
  Json json = Json::array();
  visit_fields(counts, [&](const char*, double count) { json.push_back(count); });
  return json;
}

bool ChatForm::read(const Json& from, SlotCounts& counts, const fields::Path& at) {
  counts = {};
  if (!from.is_array() || from.size() < 3 || from.size() > 4) return false;  // images were not counted at first
  std::size_t place = 0;
  visit_fields(counts, [&](const char*, double& count) {
    if (place < from.size()) fields::read<ChatForm>(from[place], count, at);
    ++place;
  });
  return true;
}

}  // namespace winnow::app
