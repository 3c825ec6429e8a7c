// Search in the titles, messages, drafts and attachments of all chats that are not deleted. Of an attachment: its file's name, and what it
// says (file_lines.h).
//
// Used by ChatDatabase, and where nothing but search is wanted. What is typed is words, never a query language. Errors: Exception with a
// storage code. Threads: that of the connection.
#pragma once

#include "app/chats/chat/chat_database.h"
#include "app/chats/chat/sqlite_connection.h"

namespace winnow::app {

// Titles and drafts first, the newest of them first; then messages, the best first; then lines of attached files that have all of the
// words, then lines that have one of them, of files that have them all; then names of files. Lines of videos of a folder that are in no
// chat follow those of chats.
QList<SearchHit> searchChats(SqliteConnection& db, const QString& query, int limit);
// Lines of the chat's attached files, those that fit the answer best first: by BM25 with the words of the answer and of its question. Files
// that came after the answer are left out, and lines that fit less than half as well as the best. An answer of no more than a "yes" is
// found by its question.
QList<SearchHit> linesBehind(SqliteConnection& db, const AnswerOfChat& answer, int limit);
// searchChats() in the chats as they are saved, also while a window has them open. None where nothing is saved yet.
QList<SearchHit> searchSavedChats(const ChatFolders& folders, const QString& query, int limit);

}  // namespace winnow::app
