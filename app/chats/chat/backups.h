// Copies of the chats of the last days, in data/backups: made once a day, two are kept, one can take the place of a damaged database.
//
// Used by BackupKeeper and ChatStore. A copy is written beside its final name, checked whole, synced and then renamed, and only then are
// older ones removed: a copy that exists is good, and a damaged database does not push out the good copies. Times are in the names, in UTC.
// Errors: Exception with a storage code; Interrupted. Threads: any but the UI's.
#pragma once

#include <QList>
#include <QMetaType>
#include <QString>

#include "app/chats/chat/chat_database.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

struct Backup {
  QString file;
  qint64 madeMs = 0;  // since the epoch
};

inline constexpr int kBackupsKept = 2;
inline constexpr qint64 kBackupEveryMs = qint64{24} * 60 * 60 * 1000;

QList<Backup> listBackups(const ChatFolders& folders);  // newest first
bool backupIsDue(const ChatFolders& folders, qint64 nowMs);
// Copies the database as it is now, which may be open and written to elsewhere. Returns the new copy.
Backup makeBackup(const ChatFolders& folders, qint64 nowMs, const InterruptToken& interrupt = {});
// Checks the copy, sets aside the database that is there (see ChatDatabase::setAside; its new path is returned) and puts the copy in its
// place. Whatever happens in between, both are kept.
QString restoreBackup(const ChatFolders& folders, const QString& backup);

}  // namespace winnow::app

Q_DECLARE_METATYPE(winnow::app::Backup)
