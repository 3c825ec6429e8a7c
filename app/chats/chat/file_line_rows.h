// The lines of attached files, and of videos of a folder, as rows: written, read, and removed with the last chat that has the file.
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
// A video of a folder: its lines stay without a chat. Nothing is written where it is known.
void insertShelfFile(SqliteConnection& db, const QByteArray& sha256, const QByteArray& path);
// Removes the lines of files that are in no chat any more, and of videos that are gone from their folders. Videos of a folder that is not
// there itself, as on a drive that was taken out, keep theirs.
void removeLinesOfNoFile(SqliteConnection& db);

}  // namespace winnow::app
