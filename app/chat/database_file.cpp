#include "app/chat/database_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QtEndian>

#include "app/chat/schema.h"
#include "engine/base/error.h"

namespace winnow::app {

namespace {

constexpr int kStartCheckBudgetMs = 1000;  // a larger database is checked as far as this takes it
constexpr qint64 kHeaderBytes = 100;
constexpr qint64 kApplicationIdOffset = 68;

[[noreturn]] void refuse(const QString& file, const std::string& reason) {
  throw Exception(ErrorCode::kStorage, QFile::encodeName(file).toStdString(), reason);
}

// Looks at the bytes before SQLite does, so that a foreign file is not even opened for writing.
void checkHeader(const QString& file) {
  const QFileInfo info(file);
  if (!info.exists() && !info.isSymLink()) return;
  if (!info.isFile()) refuse(file, "it is not a regular file");
  if (info.size() == 0) return;  // a first start that was cut off
  QFile reader(file);
  if (!reader.open(QIODevice::ReadOnly)) refuse(file, "it cannot be read");
  const QByteArray header = reader.read(kHeaderBytes);
  if (header.size() < kHeaderBytes || !header.startsWith(QByteArray("SQLite format 3\0", 16)))
    refuse(file, "it is damaged or not a database of this program");
  const auto id = qFromBigEndian<quint32>(header.constData() + kApplicationIdOffset);
  if (id != 0 && id != static_cast<quint32>(kApplicationId)) refuse(file, "it belongs to another program");
}

// 0 for a database without any table: new, or made by a first start that was cut off.
qint64 identifiedVersion(SqliteConnection& db, const QString& file) {
  const qint64 id = db.pragmaInteger("PRAGMA application_id");
  const qint64 version = db.pragmaInteger("PRAGMA user_version");
  const bool empty = db.pragmaInteger("SELECT count(*) FROM sqlite_schema") == 0;
  if (id == 0 && version == 0 && empty) return 0;
  if (id != kApplicationId) refuse(file, "it belongs to another program");
  if (version > kSchemaVersion)
    refuse(file, "it was written by a newer version (format " + std::to_string(version) + ", this program knows " +
                     std::to_string(kSchemaVersion) + ")");
  if (version < 1) refuse(file, "its format version is missing");
  return version;
}

void keepCopy(SqliteConnection& db, const QString& file, qint64 version) {
  const QString copy = file + QStringLiteral(".before-v%1").arg(version + 1);
  if (QFileInfo::exists(copy)) return;
  const QString part = copy + QStringLiteral(".part");
  QFile::remove(part);
  db.prepare("VACUUM INTO ?").bindText(QFile::encodeName(part)).run();
  if (!QFile::rename(part, copy)) refuse(copy, "the copy before the upgrade cannot be kept");
}

void migrate(SqliteConnection& db, const QString& file, qint64 version) {
  if (version == kSchemaVersion) return;
  if (version > 0) keepCopy(db, file, version);
  SqliteTransaction transaction(db);
  for (qint64 step = version; step < kSchemaVersion; ++step) db.execute(kMigrations[static_cast<std::size_t>(step)]);
  // Pragmas take no bound parameters; both values are constants of ours.
  db.execute(("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str());
  db.execute(("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str());
  transaction.commit();
}

}  // namespace

std::unique_ptr<SqliteConnection> openDatabaseFile(const QString& file, const QByteArray& vfs) {
  checkHeader(file);
  auto db = std::make_unique<SqliteConnection>(file, vfs);
  try {
    const qint64 version = identifiedVersion(*db, file);
    if (version > 0) {
      const QString finding = db->runCheck("PRAGMA quick_check(1)", kStartCheckBudgetMs);
      if (!finding.isEmpty() && finding != QLatin1String("ok")) refuse(file, "it is damaged: " + finding.toStdString());
    }
    db->configureForWriting();
    migrate(*db, file, version);
  } catch (...) {
    db->leaveUntouched();
    throw;
  }
  return db;
}

std::unique_ptr<SqliteConnection> reopenDatabaseFile(const QString& file, const QByteArray& vfs) {
  auto db = std::make_unique<SqliteConnection>(file, vfs);
  db->configureForWriting();
  return db;
}

}  // namespace winnow::app
