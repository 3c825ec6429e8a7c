#include "app/chats/chat/figure_json.h"

namespace winnow::app {

using Json = nlohmann::json;

Json parsedJson(const QByteArray& text) { return Json::parse(text.constData(), text.constData() + text.size(), nullptr, false); }

}  // namespace winnow::app
