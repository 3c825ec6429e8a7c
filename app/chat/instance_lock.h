// One Winnow per data folder: a lock of the kernel on a file, gone with its process however that ends.
//
// Used by ChatDatabase. Not QLockFile: a process killed between making its lock file and writing its id into it leaves a file that Qt 6.4
// never takes for stale, and the chats would stay locked for good. The file itself stays; only the lock on it counts.
// Threads: one.
#pragma once

#include <QString>

#ifndef Q_OS_UNIX
#include <QLockFile>
#endif

namespace winnow::app {

class InstanceLock {
 public:
  explicit InstanceLock(const QString& dataFolder);
  ~InstanceLock();
  InstanceLock(const InstanceLock&) = delete;
  InstanceLock& operator=(const InstanceLock&) = delete;

  // Does not wait. False when somebody else holds it or the file cannot be made or locked.
  bool tryAcquire();
  bool heldElsewhere() const { return m_heldElsewhere; }
  qint64 holderPid() const;  // 0: unknown

 private:
  const QString m_file;
  bool m_heldElsewhere = false;
#ifdef Q_OS_UNIX
  int m_descriptor = -1;
#else
  QLockFile m_lock;
#endif
};

}  // namespace winnow::app
