#include "app/chats/chat/database_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSet>
#include <QtEndian>

#include "app/chats/chat/schema.h"
#include "app/chats/chat/storage_fault.h"
#include "engine/base/error.h"

namespace winnow::app {

namespace {

constexpr int kStartCheckBudgetMs = 1000;  // a larger database is checked as far as this takes it
constexpr qint64 kMostInMemoryBytes = qint64{512} << 20;
constexpr qint64 kHeaderBytes = 100;
constexpr qint64 kApplicationIdOffset = 68;

[[noreturn]] void refuse(const QString& file, ErrorCode code, const std::string& reason) {
  throw Exception(code, QFile::encodeName(file).toStdString(), reason);
}

// Looks at the bytes before SQLite does, so that a foreign file is not even opened for writing.
void checkHeader(const QString& file) {
  const QFileInfo info(file);
  if (!info.exists() && !info.isSymLink()) return;
  if (!info.isFile()) refuse(file, ErrorCode::kStorageDamaged, "it is not a regular file");
  if (info.size() == 0) return;  // a first start that was cut off
  QFile reader(file);
  if (!reader.open(QIODevice::ReadOnly)) refuse(file, whyNotWritten(file), "it cannot be read");
  const QByteArray header = reader.read(kHeaderBytes);
  if (reader.error() != QFileDevice::NoError) refuse(file, ErrorCode::kStorage, "reading it failed: " + reader.errorString().toStdString());
  if (header.size() < kHeaderBytes || !header.startsWith(QByteArray("SQLite format 3\0", 16)))
    refuse(file, ErrorCode::kStorageDamaged, "it is damaged or not a database of this program");
  const auto id = qFromBigEndian<quint32>(header.constData() + kApplicationIdOffset);
  if (id != 0 && id != static_cast<quint32>(kApplicationId)) refuse(file, ErrorCode::kStorageDamaged, "it belongs to another program");
}

// 0 for a database without any table: new, or made by a first start that was cut off.
qint64 identifiedVersion(SqliteConnection& db, const QString& file) {
  const qint64 id = db.pragmaInteger("PRAGMA application_id");
  const qint64 version = db.pragmaInteger("PRAGMA user_version");
  const bool empty = db.pragmaInteger("SELECT count(*) FROM sqlite_schema") == 0;
  if (id == 0 && version == 0 && empty) return 0;
  if (id != kApplicationId) refuse(file, ErrorCode::kStorageDamaged, "it belongs to another program");
  if (version > kSchemaVersion)
    refuse(file, ErrorCode::kStorageNewer,
           "it was written by a newer version (format " + std::to_string(version) + ", this program knows " +
               std::to_string(kSchemaVersion) + ")");
  if (version < 1) refuse(file, ErrorCode::kStorageDamaged, "its format version is missing");
  return version;
}

void keepCopy(SqliteConnection& db, const QString& file, qint64 version) {
  const QString copy = file + QStringLiteral(".before-v%1").arg(version + 1);
  if (QFileInfo::exists(copy)) return;
  const QString part = copy + QStringLiteral(".part");
  QFile::remove(part);
  db.prepare("VACUUM INTO ?").bindText(QFile::encodeName(part)).run();
  if (!QFile::rename(part, copy)) refuse(copy, whyNotWritten(copy), "the copy before the upgrade cannot be kept");
}

void makeTables(SqliteConnection& db, qint64 from, qint64 to) {
  for (qint64 step = from; step < to; ++step) db.execute(kMigrations[static_cast<std::size_t>(step)]);
}

void migrate(SqliteConnection& db, qint64 version) {
  if (version == kSchemaVersion) return;
  SqliteTransaction transaction(db);
  makeTables(db, version, kSchemaVersion);
  // Pragmas take no bound parameters; both values are constants of ours.
  db.execute(("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str());
  db.execute(("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str());
  transaction.commit();
}

void quickCheck(SqliteConnection& db, const QString& file) {
  const QString finding = db.runCheck("PRAGMA quick_check(1)", kStartCheckBudgetMs);
  if (!finding.isEmpty() && finding != QLatin1String("ok"))
    refuse(file, ErrorCode::kStorageDamaged, "it is damaged: " + finding.toStdString());
}

std::unique_ptr<SqliteConnection> connectionInMemory() {
  return std::make_unique<SqliteConnection>(QLatin1String(SqliteConnection::kInMemory), QByteArray());
}

QSet<QString> tablesOf(SqliteConnection& db) {
  QSet<QString> names;
  SqliteStatement rows = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'");
  while (rows.step()) names.insert(rows.text(0));
  return names;
}

// quick_check looks at the pages; a database of ours also has the tables of its version.
void requireTables(SqliteConnection& db, const QString& file, qint64 version) {
  const std::unique_ptr<SqliteConnection> whole = connectionInMemory();
  makeTables(*whole, 0, version);
  const QSet<QString> missing = tablesOf(*whole) - tablesOf(db);
  if (missing.isEmpty()) return;
  refuse(file, ErrorCode::kStorageDamaged, "it is damaged: its table " + (*missing.begin()).toStdString() + " is missing");
}

}  // namespace

std::unique_ptr<SqliteConnection> openDatabaseFile(const QString& file, const QByteArray& vfs) {
  checkHeader(file);
  auto db = std::make_unique<SqliteConnection>(file, vfs);
  try {
    const qint64 version = identifiedVersion(*db, file);
    if (version > 0) {
      quickCheck(*db, file);
      requireTables(*db, file, version);
    }
    db->configureForWriting();
    if (version > 0 && version < kSchemaVersion) keepCopy(*db, file, version);
    migrate(*db, version);
  } catch (...) {
    db->leaveUntouched();
    throw;
  }
  return db;
}

std::unique_ptr<SqliteConnection> openInMemory(const QString& file) {
  auto db = connectionInMemory();
  qint64 version = 0;
  try {
    checkHeader(file);
    const qint64 bytes = QFileInfo(file).size();
    if (bytes > 0 && bytes <= kMostInMemoryBytes) {
      db->copyFrom(file);
      version = identifiedVersion(*db, file);
      quickCheck(*db, file);
      requireTables(*db, file, version);
    }
  } catch (const Exception&) {
    db = connectionInMemory();
    version = 0;
  }
  migrate(*db, version);
  return db;
}

std::unique_ptr<SqliteConnection> openToRead(const QString& file) {
  checkHeader(file);
  if (!QFileInfo::exists(file)) return nullptr;
  auto db = std::make_unique<SqliteConnection>(file, QByteArray());
  db->leaveUntouched();
  return identifiedVersion(*db, file) == kSchemaVersion ? std::move(db) : nullptr;
}

void requireWhole(const QString& file, const InterruptToken& interrupt) {
  SqliteConnection db(file, {});
  db.leaveUntouched();
  db.interruptBy(interrupt);
  const qint64 version = identifiedVersion(db, file);
  if (version == 0) refuse(file, ErrorCode::kStorageDamaged, "it is empty");
  requireTables(db, file, version);
  const QString finding = db.runCheck("PRAGMA integrity_check(1)", 0);
  if (finding != QLatin1String("ok")) refuse(file, ErrorCode::kStorageDamaged, "it is damaged: " + finding.toStdString());
}

void requireTrueWords(const QString& file, const InterruptToken& interrupt) {
  SqliteConnection db(file, {});
  db.leaveUntouched();
  db.interruptBy(interrupt);
  const qint64 changed = db.pragmaInteger(
      "SELECT (SELECT count(*) FROM message WHERE digest <> winnow_digest(text, thought)) + "
      "(SELECT count(*) FROM comparison_column WHERE digest <> winnow_digest(text, thought))");
  if (changed > 0)
    refuse(file, ErrorCode::kStorageDamaged,
           "it is damaged: the words of " + std::to_string(changed) + " messages have changed on the disk");
}

std::unique_ptr<SqliteConnection> reopenDatabaseFile(const QString& file, const QByteArray& vfs) {
  auto db = std::make_unique<SqliteConnection>(file, vfs);
  db->configureForWriting();
  return db;
}

}  // namespace winnow::app
