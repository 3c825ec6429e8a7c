#include "app/chats/chat/backups.h"

#include <fcntl.h>
#include <unistd.h>

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTimeZone>
#include <algorithm>
#include <cstdio>

#include "app/chats/chat/database_file.h"
#include "app/chats/chat/storage_fault.h"
#include "app/ground/process/own_folder.h"

namespace winnow::app {

namespace {

constexpr qint64 kRoomLeftBytes = qint64{64} << 20;  // for what is written meanwhile

QString folderOf(const ChatFolders& folders) { return folders.data + QStringLiteral("/backups"); }
QString nameFormat() { return QStringLiteral("'winnow-'yyyyMMdd'T'hhmmss'Z.db'"); }

[[noreturn]] void refuseBackup(const QString& file, ErrorCode code, const std::string& reason) {
  throw Exception(code, QFile::encodeName(file).toStdString(), reason);
}

bool syncToDisk(const QString& path) {
  const int descriptor = ::open(QFile::encodeName(path).constData(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  return synced;
}

// On the disk under the new name, or still there under the old one.
void renameDurably(const QString& from, const QString& to) {
  const bool renamed = syncToDisk(from) && std::rename(QFile::encodeName(from).constData(), QFile::encodeName(to).constData()) == 0;
  if (!renamed) refuseBackup(to, whyNotWritten(to), "it cannot be put in its place");
  syncToDisk(QFileInfo(to).path());
}

}  // namespace

QList<Backup> listBackups(const ChatFolders& folders) {
  QList<Backup> backups;
  const QDir folder(folderOf(folders));
  for (const QString& name : folder.entryList({QStringLiteral("winnow-*.db")}, QDir::Files)) {
    QDateTime made = QDateTime::fromString(name, nameFormat());
    made.setTimeSpec(Qt::UTC);
    if (made.isValid()) backups.push_back({folder.filePath(name), made.toMSecsSinceEpoch()});
  }
  std::sort(backups.begin(), backups.end(), [](const Backup& a, const Backup& b) { return a.madeMs > b.madeMs; });
  return backups;
}

bool backupIsDue(const ChatFolders& folders, qint64 nowMs) {
  const QList<Backup> backups = listBackups(folders);
  // One from the future: the clock was wrong, then or now.
  return backups.isEmpty() || std::abs(nowMs - backups.first().madeMs) >= kBackupEveryMs;
}

Backup makeBackup(const ChatFolders& folders, qint64 nowMs, const InterruptToken& interrupt) {
  const QString database = ChatDatabase::databaseFile(folders);
  const QDir folder(folderOf(folders));
  if (const FolderState there = makeOwnFolder(folder.path()); !there)
    refuseBackup(there.path, storageCodeOf(there.fault), reasonOf(there.fault));
  Backup made{folder.filePath(QDateTime::fromMSecsSinceEpoch(nowMs, Qt::UTC).toString(nameFormat())), nowMs};
  const QString part = folder.filePath(QStringLiteral("unfinished.part"));
  QFile::remove(part);
  try {
    {
      SqliteConnection db(database, {});
      db.leaveUntouched();
      db.interruptBy(interrupt);
      const qint64 bytes = db.pragmaInteger("PRAGMA page_count") * db.pragmaInteger("PRAGMA page_size");
      const qint64 free = freeBytes(folder.path());
      if (free >= 0 && free < bytes + kRoomLeftBytes) refuseBackup(part, ErrorCode::kStorageFull, "there is no room for a backup");
      db.prepare("VACUUM INTO ?").bindText(QFile::encodeName(part)).run();
    }
    requireWhole(part, interrupt);
    requireTrueWords(part, interrupt);
    renameDurably(part, made.file);
  } catch (...) {
    QFile::remove(part);
    throw;
  }
  int kept = 1;
  for (const Backup& older : listBackups(folders)) {
    if (older.file != made.file && ++kept > kBackupsKept) QFile::remove(older.file);
  }
  return made;
}

QString restoreBackup(const ChatFolders& folders, const QString& backup) {
  const QString database = ChatDatabase::databaseFile(folders);
  const QString part = database + QStringLiteral(".restoring");
  QFile::remove(part);
  if (!QFile::copy(backup, part)) refuseBackup(part, whyNotWritten(part), "the backup cannot be copied");
  try {
    requireWhole(part);
    QString aside = ChatDatabase::setAside(folders);
    renameDurably(part, database);
    return aside;
  } catch (...) {
    QFile::remove(part);
    throw;
  }
}

BackupKeeper::BackupKeeper(const ChatFolders& folders, const BackupTimes& times, QObject* parent)
    : QObject(parent), m_folders(folders), m_worker("backups") {
  connect(&m_timer, &QTimer::timeout, this, [this, times] {
    m_timer.setInterval(times.againMs);
    look();
  });
  m_timer.start(times.firstMs);
}

BackupKeeper::~BackupKeeper() { m_interrupt.request_cancel(); }

void BackupKeeper::look() {
  m_worker.post([this, interrupt = m_interrupt.token()] {
    try {
      const qint64 now = QDateTime::currentMSecsSinceEpoch();
      if (interrupt.requested() || !backupIsDue(m_folders, now)) return;
      m_mailbox.post([this, backup = makeBackup(m_folders, now, interrupt)] { Q_EMIT made(backup); });
    } catch (const Interrupted&) {
      // The next start makes it.
    } catch (...) {
      m_mailbox.post([this, error = current_error("backups")] { Q_EMIT failed(error); });
    }
  });
}

}  // namespace winnow::app
