// Opening the database file: is it ours, is it whole, is it of this version?
//
// Used by ChatDatabase and chat_search.h. Nothing that is not ours, or newer than this program, or damaged is written to.
// Errors: Exception with a storage code and the file as subject. Threads: one.
#pragma once

#include <QByteArray>
#include <QString>
#include <memory>

#include "app/chats/chat/sqlite_connection.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

// Opens or makes `file`, checks and migrates it. Before a migration of an existing database a copy is kept as <file>.before-v<N>.
std::unique_ptr<SqliteConnection> openDatabaseFile(const QString& file, const QByteArray& vfs);
// A database in memory with whatever can be read of `file`, or an empty one: for when the file cannot be opened. Writes nowhere.
std::unique_ptr<SqliteConnection> openInMemory(const QString& file);
// A database of this version, to read from, also while it is open elsewhere. Null: there is none, or it is of an older version.
std::unique_ptr<SqliteConnection> openToRead(const QString& file);
// The full check of a database file of ours, also while it is open elsewhere. Throws Interrupted.
void requireWhole(const QString& file, const InterruptToken& interrupt = {});
// Before a backup of it takes the place of an older one: no words in it have changed since they were written. A database of this version.
void requireTrueWords(const QString& file, const InterruptToken& interrupt = {});
// Opens again what was open before, without the checks.
std::unique_ptr<SqliteConnection> reopenDatabaseFile(const QString& file, const QByteArray& vfs);

}  // namespace winnow::app
