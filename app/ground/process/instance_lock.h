// One process per file: a lock of the kernel on it, gone with its process however that ends.
//
// Used by ChatDatabase (one Winnow per data folder) and InstanceDoor (one that answers). Not QLockFile: a process killed between making
// its lock file and writing its id into it leaves a file that Qt 6.4 never takes for stale, and the chats would stay locked for good. The
// file itself stays; only the lock on it counts.
// Threads: one.
#pragma once

#include <QString>

namespace winnow::app {

class InstanceLock {
 public:
  explicit InstanceLock(const QString& file) : m_file(file) {}
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
  int m_descriptor = -1;
};

}  // namespace winnow::app
