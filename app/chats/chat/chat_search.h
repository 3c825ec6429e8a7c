// Search in the titles, messages, drafts and attachments of all chats that are not deleted. Of an attachment: its file's name, its
// subtitles and what the model told itself about it.
//
// Used by ChatDatabase only. What is typed is words, never a query language. Threads: that of the connection.
#pragma once

#include "app/chats/chat/conversation.h"
#include "app/chats/chat/sqlite_connection.h"

namespace winnow::app {

// Titles and drafts first, the newest of them first; then messages, the best first; then attachments.
QList<SearchHit> searchChats(SqliteConnection& db, const QString& query, int limit);

}  // namespace winnow::app
