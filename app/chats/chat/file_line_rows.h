// The lines of attached files as rows: written, read, and removed with the last chat that has the file.
//
// Used by ChatDatabase only, inside its transactions. Errors: the connection's. Threads: that of the connection.
#pragma once

#include "app/chats/chat/file_lines.h"
#include "app/chats/chat/sqlite_connection.h"

namespace winnow::app {

// Replaces the lines of this kind; nothing is written where they are the same.
void replaceFileLines(SqliteConnection& db, const QByteArray& sha256, LineKind kind, const QList<FileLine>& lines);
// The lines by their times, or in the order of the document.
QList<FileLine> readFileLines(SqliteConnection& db, const QByteArray& sha256);
// Removes the lines of files that are in no chat any more.
void removeUnattachedLines(SqliteConnection& db);

}  // namespace winnow::app
