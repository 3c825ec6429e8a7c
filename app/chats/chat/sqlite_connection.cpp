#include "app/chats/chat/sqlite_connection.h"

#include <sqlite3.h>
#include <QCryptographicHash>
#include <QtEndian>

#include <QFile>
#include <QFileInfo>
#include <QUrl>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <memory>

#include "app/chats/chat/storage_fault.h"
#include "engine/base/error.h"

namespace winnow::app {

namespace {

// The first eight bytes of SHA-256 over each value's length and bytes: words that move from one column into the next change it.
void digest(sqlite3_context* context, int count, sqlite3_value** values) {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  for (int i = 0; i < count; ++i) {
    const auto* bytes = static_cast<const char*>(sqlite3_value_blob(values[i]));
    const int size = sqlite3_value_bytes(values[i]);
    const qint64 length = qToBigEndian<qint64>(size);
    hash.addData(QByteArray::fromRawData(reinterpret_cast<const char*>(&length), sizeof length));
    if (size > 0) hash.addData(QByteArray::fromRawData(bytes, size));
  }
  sqlite3_result_int64(context, qFromBigEndian<qint64>(hash.result().constData()));
}

// winnow_digest(...), an SQL function of every connection: a checksum of a row's words.
//
// SQLite checks the form of its pages, not what stands in them: a flipped byte within a message's text went unnoticed. Triggers keep the
// digest of each message and compared answer beside its words (schema.cpp); who reads them compares. Values of any type and number; the
// same values give the same integer in every version, as it is stored.

// Returns SQLite's result code.
int addRowDigest(sqlite3* connection) {
  // Innocuous: triggers may call it though the schema is not trusted.
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  return sqlite3_create_function_v2(connection, "winnow_digest", -1, kFlags, nullptr, digest, nullptr, nullptr, nullptr);
}

constexpr int kBusyTimeoutMs = 5000;    // another program (a backup tool) may hold a lock for a moment
constexpr int kProgressSteps = 10'000;  // of the database machine, between two looks at the clock or an interrupt
constexpr int kMaxValueBytes = 64 << 20;

const char* reasonOf(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL: return "the disk is full";
    case SQLITE_IOERR: return "the disk reported an error";
    case SQLITE_READONLY: return "it may only be read";
    case SQLITE_CANTOPEN: return "it cannot be opened";
    case SQLITE_CORRUPT: return "it is damaged";
    case SQLITE_NOTADB: return "it is not a database";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another program is using it";
    case SQLITE_NOMEM: return "there is not enough memory";
    case SQLITE_CONSTRAINT: return "the change contradicts what is stored";
    case SQLITE_TOOBIG: return "a value is too large";
    default: return "an error of the database library";
  }
}

ErrorCode codeOf(int code, int systemError, const QByteArray& file) {
  switch (code & 0xff) {
    case SQLITE_FULL: return ErrorCode::kStorageFull;
    case SQLITE_READONLY:
    case SQLITE_PERM: return ErrorCode::kStorageReadOnly;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::kStorageDamaged;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorCode::kStorageInUse;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN: {
      const ErrorCode known = storageCodeOf(systemError);
      return known != ErrorCode::kStorage ? known : whyNotWritten(QFile::decodeName(file));
    }
    default: return ErrorCode::kStorage;
  }
}

// SQLite calls a database malformed when the disk could not deliver a page of it or of its log (SQLITE_IOERR_CORRUPTFS). The system's error
// of the last call that failed tells the two apart.
bool diskFailed(sqlite3* handle) {
  const auto isOfTheDisk = [](int error) { return error == EIO || error == ENXIO || error == ERANGE; };
  int error = 0;
  if (handle == nullptr) return false;
  if (sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &error) == SQLITE_OK && isOfTheDisk(error)) return true;
  sqlite3_file* log = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log == nullptr || log->pMethods == nullptr || log->pMethods->xFileControl == nullptr) return false;
  return log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &error) == SQLITE_OK && isOfTheDisk(error);
}

[[noreturn]] void throwStorage(const QByteArray& file, sqlite3* handle, int code, const QByteArray& detail) {
  if ((code & 0xff) == SQLITE_CORRUPT && diskFailed(handle)) code = SQLITE_IOERR_READ;
  throw Exception(codeOf(code, handle != nullptr ? sqlite3_system_errno(handle) : 0, file), file.toStdString(),
                  std::string(reasonOf(code)) + " (SQLite " + std::to_string(code) + ": " + detail.toStdString() + ")");
}

}  // namespace

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : m_connection(other.m_connection), m_statement(other.m_statement), m_bound(other.m_bound) {
  other.m_statement = nullptr;
}

SqliteStatement::~SqliteStatement() {
  if (!m_statement) return;
  sqlite3_reset(m_statement);
  sqlite3_clear_bindings(m_statement);
}

void SqliteStatement::check(int result) const {
  if (result != SQLITE_OK) m_connection->fail();
}

SqliteStatement& SqliteStatement::bindInteger(qint64 value) {
  check(sqlite3_bind_int64(m_statement, ++m_bound, value));
  return *this;
}

SqliteStatement& SqliteStatement::bind(double value) {
  // SQLite stores NaN as NULL, which no column here allows.
  check(sqlite3_bind_double(m_statement, ++m_bound, std::isfinite(value) ? value : 0.0));
  return *this;
}

SqliteStatement& SqliteStatement::bind(const QString& value) { return bindText(value.toUtf8()); }

SqliteStatement& SqliteStatement::bindText(const QByteArray& utf8) {
  check(sqlite3_bind_text64(m_statement, ++m_bound, utf8.constData(), static_cast<sqlite3_uint64>(utf8.size()), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
  return *this;
}

SqliteStatement& SqliteStatement::bindBlob(const QByteArray& value) {
  check(sqlite3_bind_blob64(m_statement, ++m_bound, value.constData(), static_cast<sqlite3_uint64>(value.size()), SQLITE_TRANSIENT));
  return *this;
}

SqliteStatement& SqliteStatement::bindNull() {
  check(sqlite3_bind_null(m_statement, ++m_bound));
  return *this;
}

bool SqliteStatement::step() {
  const int result = sqlite3_step(m_statement);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) m_connection->fail();
  return false;
}

void SqliteStatement::run() {
  while (step()) {
  }
}

qint64 SqliteStatement::integer(int column) const { return sqlite3_column_int64(m_statement, column); }
double SqliteStatement::real(int column) const { return sqlite3_column_double(m_statement, column); }

QByteArray SqliteStatement::bytes(int column) const {
  const void* data = sqlite3_column_blob(m_statement, column);
  return QByteArray(static_cast<const char*>(data), sqlite3_column_bytes(m_statement, column));
}

QString SqliteStatement::text(int column) const { return QString::fromUtf8(bytes(column)); }

SqliteConnection::SqliteConnection(const QString& file, const QByteArray& vfs) : m_file(QFile::encodeName(file)) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
  const int result = sqlite3_open_v2(m_file.constData(), &m_handle, flags, vfs.isEmpty() ? nullptr : vfs.constData());
  if (result != SQLITE_OK) {
    const QByteArray detail = m_handle ? sqlite3_errmsg(m_handle) : "no memory";
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> closing(m_handle, &sqlite3_close_v2);
    throwStorage(m_file, m_handle, result, detail);
  }
  if (const int added = addRowDigest(m_handle); added != SQLITE_OK) {
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> closing(m_handle, &sqlite3_close_v2);
    throwStorage(m_file, m_handle, added, sqlite3_errmsg(m_handle));
  }
  sqlite3_busy_timeout(m_handle, kBusyTimeoutMs);
  sqlite3_limit(m_handle, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_limit(m_handle, SQLITE_LIMIT_ATTACHED, 1);  // VACUUM INTO needs one
  sqlite3_db_config(m_handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(m_handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(m_handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(m_handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(m_handle, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_db_config(m_handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nullptr);
}

SqliteConnection::~SqliteConnection() {
  for (const auto& [sql, statement] : m_statements) sqlite3_finalize(statement);
  sqlite3_close_v2(m_handle);
}

void SqliteConnection::configureForWriting() {
  execute("PRAGMA cell_size_check=ON");
  execute("PRAGMA mmap_size=0");
  {
    SqliteStatement journal = prepare("PRAGMA journal_mode=WAL");
    if (!journal.step() || journal.text(0) != QLatin1String("wal"))
      throw Exception(ErrorCode::kStorage, m_file.toStdString(), "this file system does not allow a write-ahead log");
  }
  execute("PRAGMA synchronous=FULL");
  execute("PRAGMA journal_size_limit=16777216");
}

void SqliteConnection::copyFrom(const QString& file) {
  // Without a log the file alone is everything, and is read without a trace. A log needs its shared memory, for which a folder that may not
  // be written has no room: then again the file alone.
  for (const bool immutable : {!QFileInfo::exists(file + QStringLiteral("-wal")), true}) {
    const QByteArray uri =
        QUrl::fromLocalFile(QFileInfo(file).absoluteFilePath()).toEncoded() + (immutable ? "?mode=ro&immutable=1" : "?mode=ro");
    sqlite3* source = nullptr;
    int result = sqlite3_open_v2(uri.constData(), &source, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE, nullptr);
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> closing(source, &sqlite3_close_v2);
    if (result == SQLITE_OK) {
      sqlite3_backup* copy = sqlite3_backup_init(m_handle, "main", source, "main");
      if (copy == nullptr) fail();
      sqlite3_backup_step(copy, -1);
      result = sqlite3_backup_finish(copy);
    }
    if (result == SQLITE_OK) return;
    const int kind = result & 0xff;
    if (immutable || (kind != SQLITE_CANTOPEN && kind != SQLITE_READONLY))
      throwStorage(QFile::encodeName(file), source, result, sqlite3_errstr(result));
  }
}

void SqliteConnection::interruptBy(const InterruptToken& interrupt) {
  m_interrupt = interrupt;
  const auto raised = [](void* token) -> int { return static_cast<const InterruptToken*>(token)->requested() ? 1 : 0; };
  sqlite3_progress_handler(m_handle, kProgressSteps, raised, &m_interrupt);
}

void SqliteConnection::leaveUntouched() { sqlite3_db_config(m_handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }

SqliteStatement SqliteConnection::prepare(const char* sql) {
  sqlite3_stmt*& statement = m_statements[sql];
  if (!statement && sqlite3_prepare_v3(m_handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) fail();
  return SqliteStatement(*this, statement);
}

void SqliteConnection::execute(const char* sql) {
  if (sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

qint64 SqliteConnection::lastInsertId() const { return sqlite3_last_insert_rowid(m_handle); }
int SqliteConnection::changes() const { return sqlite3_changes(m_handle); }

qint64 SqliteConnection::pragmaInteger(const char* sql) {
  SqliteStatement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

QString SqliteConnection::runCheck(const char* sql, int budgetMs) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(budgetMs);
  if (budgetMs > 0) {
    const auto expired = [](void* context) -> int { return Clock::now() > *static_cast<Clock::time_point*>(context) ? 1 : 0; };
    sqlite3_progress_handler(m_handle, kProgressSteps, expired, &deadline);
  }
  // Not cached and not through step(): running out of time is no failure.
  sqlite3_stmt* statement = nullptr;
  int result = sqlite3_prepare_v2(m_handle, sql, -1, &statement, nullptr);
  if (result == SQLITE_OK) result = sqlite3_step(statement);
  const QString finding =
      result == SQLITE_ROW ? QString::fromUtf8(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0))) : QString();
  const QByteArray detail = sqlite3_errmsg(m_handle);
  sqlite3_finalize(statement);
  if (budgetMs > 0) sqlite3_progress_handler(m_handle, 0, nullptr, nullptr);
  m_interrupt.throw_if_requested();
  if (result != SQLITE_ROW && result != SQLITE_INTERRUPT) throwStorage(m_file, m_handle, result, detail);
  if (result == SQLITE_ROW && finding != QLatin1String("ok") && diskFailed(m_handle))
    throwStorage(m_file, m_handle, SQLITE_IOERR_READ, finding.toUtf8());
  return finding;
}

void SqliteConnection::fail() const {
  m_interrupt.throw_if_requested();
  throwStorage(m_file, m_handle, sqlite3_extended_errcode(m_handle), sqlite3_errmsg(m_handle));
}

SqliteTransaction::SqliteTransaction(SqliteConnection& connection) : m_connection(connection) { m_connection.execute("BEGIN IMMEDIATE"); }

SqliteTransaction::~SqliteTransaction() {
  if (!m_open) return;
  try {
    m_connection.execute("ROLLBACK");
  } catch (const Exception&) {
    // SQLite has already rolled back by itself after some errors; the connection is reopened in any case.
  }
}

void SqliteTransaction::commit() {
  m_connection.execute("COMMIT");
  m_open = false;
}

}  // namespace winnow::app
