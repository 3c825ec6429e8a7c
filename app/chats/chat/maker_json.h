// The recipes that made the cache of an answer as JSON: [{"recipe": {..}, "attached": true}, ..]; empty: not known.
//
// Used by saved chats, comparisons and exports. Entries that cannot be read (a newer program's) leave all of them unknown. Threads: any.
#pragma once

#include <QByteArray>
#include <QList>
#include <nlohmann/json.hpp>

#include "app/chats/chat/conversation.h"

namespace winnow::app {

nlohmann::json makersToJson(const QList<RunMaker>& makers);
QList<RunMaker> makersFromJson(const nlohmann::json& json);
// The makers as a column of the database holds them.
QByteArray makersToText(const QList<RunMaker>& makers);
QList<RunMaker> makersFromText(const QByteArray& text);

}  // namespace winnow::app
