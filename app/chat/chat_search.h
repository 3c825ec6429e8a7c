// Search in the titles and messages of all chats that are not deleted.
//
// Used by ChatDatabase only. What is typed is words, never a query language. Threads: that of the connection.
#pragma once

#include "app/chat/conversation.h"
#include "app/chat/sqlite_connection.h"

namespace winnow::app {

// Titles first, the newest of them first; then messages, the best first.
QList<SearchHit> searchChats(SqliteConnection& db, const QString& query, int limit);

}  // namespace winnow::app
