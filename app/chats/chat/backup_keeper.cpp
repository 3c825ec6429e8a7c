#include "app/chats/chat/backup_keeper.h"

#include <QDateTime>

namespace winnow::app {

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
