// A SQLite connection and its statements: parameters are bound, never pasted; every failure is an Exception
// with a storage code.
//
// Used inside app/chats/chat only. Opened for one writer: WAL, synchronous=FULL, foreign keys, defensive, no extensions, no double-quoted
// strings, no memory map. Text and blobs are bound with their length, so NUL bytes survive.
// Threads: confined to one at a time (opened without SQLite's own mutexes).
#pragma once

#include <QByteArray>
#include <QString>
#include <concepts>
#include <string>
#include <unordered_map>

#include "engine/base/interrupt.h"

struct sqlite3;
struct sqlite3_stmt;

namespace winnow::app {

class SqliteConnection;

// One execution of a cached prepared statement; resets it when it goes. Only one execution of the same SQL at a time.
class SqliteStatement {
 public:
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&&) = delete;
  ~SqliteStatement();

  // Bind the next parameter, from the first on.
  template <std::integral Integer>
  SqliteStatement& bind(Integer value) {
    return bindInteger(static_cast<qint64>(value));
  }
  SqliteStatement& bind(double value);
  SqliteStatement& bind(const QString& value);
  SqliteStatement& bindBlob(const QByteArray& value);
  SqliteStatement& bindText(const QByteArray& utf8);
  SqliteStatement& bindNull();
  SqliteStatement& bindIdOrNull(qint64 id) { return id == 0 ? bindNull() : bind(id); }

  bool step();  // true: a row is there
  void run();   // for statements without rows

  // Columns from 0.
  qint64 integer(int column) const;
  double real(int column) const;
  QString text(int column) const;
  QByteArray bytes(int column) const;

 private:
  friend class SqliteConnection;
  SqliteStatement(SqliteConnection& connection, sqlite3_stmt* statement) : m_connection(&connection), m_statement(statement) {}
  SqliteStatement& bindInteger(qint64 value);
  void check(int result) const;

  SqliteConnection* m_connection;  // borrowed
  sqlite3_stmt* m_statement;       // owned by the connection's cache
  int m_bound = 0;
};

class SqliteConnection {
 public:
  // vfs: name of a registered VFS; empty: the system's. kInMemory in place of a file: nothing is written anywhere.
  static constexpr char kInMemory[] = ":memory:";
  SqliteConnection(const QString& file, const QByteArray& vfs);
  ~SqliteConnection();
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  // Journal and durability; before the first write, after it is known that the file is ours.
  void configureForWriting();
  // The contents of a database file in place of this connection's. Only reads it.
  void copyFrom(const QString& file);
  // From here on a statement that is running ends with Interrupted when this is raised.
  void interruptBy(const InterruptToken& interrupt);
  // From here on closing leaves the file as it is: no checkpoint.
  void leaveUntouched();

  SqliteStatement prepare(const char* sql);
  void execute(const char* sql);
  qint64 lastInsertId() const;
  int changes() const;
  qint64 pragmaInteger(const char* sql);
  // First line of a check pragma, "ok" when all is well; empty when it took longer than the budget (0: no budget).
  QString runCheck(const char* sql, int budgetMs);

  [[noreturn]] void fail() const;

 private:
  sqlite3* m_handle = nullptr;
  std::unordered_map<std::string, sqlite3_stmt*> m_statements;
  QByteArray m_file;
  InterruptToken m_interrupt;
};

// BEGIN IMMEDIATE ... COMMIT; rolled back unless committed.
class SqliteTransaction {
 public:
  explicit SqliteTransaction(SqliteConnection& connection);
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;
  void commit();

 private:
  SqliteConnection& m_connection;
  bool m_open = true;
};

}  // namespace winnow::app
