// Copies of the chats of the last days, in data/backups: made once a day while the program runs, two are kept, one can take the place of a
// damaged database.
//
// Used by ChatStore. A copy is written beside its final name, checked whole, synced and then renamed, and only then are older ones removed:
// a copy that exists is good, and a damaged database does not push out the good copies. Times are in the names, in UTC. Errors: Exception
// with a storage code; Interrupted. Threads: any but the UI's; BackupKeeper is made on the UI's and works on its own.
#pragma once

#include <QList>
#include <QMetaType>
#include <QObject>
#include <QString>
#include <QTimer>

#include "app/chats/chat/chat_database.h"
#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"
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

// Makes the daily backup while the program runs: a while after the start, then looks every hour whether one is due.
//
// Reads through a connection of its own on its own thread, so that nothing that is saved waits for it. The destructor ends a backup that is
// being made.
struct BackupTimes {
  int firstMs = 2 * 60 * 1000;
  int againMs = 60 * 60 * 1000;
};

class BackupKeeper : public QObject {
  Q_OBJECT
 public:
  BackupKeeper(const ChatFolders& folders, const BackupTimes& times, QObject* parent = nullptr);
  ~BackupKeeper() override;

 Q_SIGNALS:
  void made(const winnow::app::Backup& backup);
  void failed(const winnow::Error& error);

 private:
  void look();

  const ChatFolders m_folders;
  QTimer m_timer;
  InterruptSource m_interrupt;
  Mailbox m_mailbox;
  WorkerThread m_worker;  // last: joined before everything that its answers touch goes away
};

}  // namespace winnow::app

Q_DECLARE_METATYPE(winnow::app::Backup)
