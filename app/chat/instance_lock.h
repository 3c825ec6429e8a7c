// One Winnow per data folder: a lock file that dies with its process.
//
// Used by ChatDatabase, and by bootstrap to tell "already running" from other troubles. The lock is advisory and per user; a lock left by
// a killed process is taken over at once. Threads: one.
#pragma once

#include <QLockFile>
#include <QString>

namespace winnow::app {

class InstanceLock {
 public:
  explicit InstanceLock(const QString& dataFolder);
  // Does not wait. False when another process holds it or the folder cannot be written.
  bool tryAcquire();
  bool heldElsewhere() const { return m_lock.error() == QLockFile::LockFailedError; }
  qint64 holderPid() const;  // 0: unknown

 private:
  mutable QLockFile m_lock;
};

}  // namespace winnow::app
