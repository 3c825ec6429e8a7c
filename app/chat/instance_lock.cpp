#include "app/chat/instance_lock.h"

namespace winnow::app {

InstanceLock::InstanceLock(const QString& dataFolder) : m_lock(dataFolder + QStringLiteral("/winnow.lock")) {
  m_lock.setStaleLockTime(0);  // only a dead holder makes it stale, never its age: a chat may be open for weeks
}

bool InstanceLock::tryAcquire() { return m_lock.tryLock(0); }

qint64 InstanceLock::holderPid() const {
  qint64 pid = 0;
  QString host;
  QString program;
  return m_lock.getLockInfo(&pid, &host, &program) ? pid : 0;
}

}  // namespace winnow::app
