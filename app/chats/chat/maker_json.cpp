#include "app/chats/chat/maker_json.h"

#include "app/chats/chat/figure_json.h"

namespace winnow::app {

using Json = nlohmann::json;

Json makersToJson(const QList<RunMaker>& makers) {
  Json list = Json::array();
  for (const RunMaker& maker : makers)
    list.push_back({{"recipe", Json::parse(recipeToJson(maker.recipe, -1))}, {"attached", maker.attached}});
  return list;
}

QList<RunMaker> makersFromJson(const Json& json) {
  QList<RunMaker> makers;
  if (!json.is_array()) return makers;
  try {
    for (const Json& each : json) makers.push_back({recipeFromJson(each.at("recipe").dump(), "chats"), each.at("attached").get<bool>()});
  } catch (const std::exception&) {
    return {};
  }
  return makers;
}

QByteArray makersToText(const QList<RunMaker>& makers) {
  return makers.isEmpty() ? QByteArray() : QByteArray::fromStdString(makersToJson(makers).dump());
}

QList<RunMaker> makersFromText(const QByteArray& text) { return makersFromJson(parsedJson(text)); }

}  // namespace winnow::app
