// Makes the daily backup while the program runs: a while after the start, then looks every hour whether one is due.
//
// Used by ChatStore while its database is open. Reads through a connection of its own on its own thread, so that nothing that is saved
// waits for it. The destructor ends a backup that is being made. Threads: UI thread.
#pragma once

#include <QObject>
#include <QTimer>

#include "app/chats/chat/backups.h"
#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"

namespace winnow::app {

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
