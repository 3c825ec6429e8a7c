// Rows of comparisons to values and back: no transactions, no rules.
//
// Used by ChatDatabase only. Threads: that of the connection.
#pragma once

#include <optional>

#include "app/chats/chat/conversation.h"
#include "app/chats/chat/sqlite_connection.h"

namespace winnow::app {

QList<Comparison> readComparisons(SqliteConnection& db, ConversationId id);   // oldest first
qint64 insertComparison(SqliteConnection& db, const Comparison& comparison);  // returns its id

SharedKeptMap readComparedKeptMap(SqliteConnection& db, qint64 comparison, int place);  // null: none, or of a newer version

// A column with what its answer will stand under.
struct StoredColumn {
  ConversationId conversation = 0;
  MessageId question = 0;
  ComparedAnswer answer;
};
std::optional<StoredColumn> findColumn(SqliteConnection& db, qint64 comparison, int place);

}  // namespace winnow::app
