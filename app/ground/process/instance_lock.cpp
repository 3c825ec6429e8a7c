#include "app/ground/process/instance_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QByteArray>
#include <QCoreApplication>
#include <QFile>
#include <cerrno>

namespace winnow::app {

InstanceLock::~InstanceLock() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

bool InstanceLock::tryAcquire() {
  m_heldElsewhere = false;
  m_descriptor = ::open(QFile::encodeName(m_file).constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (m_descriptor < 0) return false;
  if (::flock(m_descriptor, LOCK_EX | LOCK_NB) != 0) {
    m_heldElsewhere = errno == EWOULDBLOCK;
    ::close(m_descriptor);
    m_descriptor = -1;
    return false;
  }
  // For the other one's message only: a lock without it is as good.
  const QByteArray pid = QByteArray::number(QCoreApplication::applicationPid()) + '\n';
  if (::ftruncate(m_descriptor, 0) == 0) [[maybe_unused]]
    const auto written = ::write(m_descriptor, pid.constData(), static_cast<size_t>(pid.size()));
  return true;
}

qint64 InstanceLock::holderPid() const {
  QFile file(m_file);
  return file.open(QIODevice::ReadOnly) ? file.read(32).trimmed().toLongLong() : 0;
}

}  // namespace winnow::app
