#include "app/chat/instance_lock.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QFile>

#ifdef Q_OS_UNIX
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace winnow::app {

namespace {

QString lockFileIn(const QString& folder) { return folder + QStringLiteral("/winnow.lock"); }

}  // namespace

#ifdef Q_OS_UNIX

InstanceLock::InstanceLock(const QString& dataFolder) : m_file(lockFileIn(dataFolder)) {}

InstanceLock::~InstanceLock() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

bool InstanceLock::tryAcquire() {
  m_descriptor = ::open(QFile::encodeName(m_file).constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
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

#else

InstanceLock::InstanceLock(const QString& dataFolder) : m_file(lockFileIn(dataFolder)), m_lock(m_file) { m_lock.setStaleLockTime(0); }
InstanceLock::~InstanceLock() = default;

bool InstanceLock::tryAcquire() {
  if (m_lock.tryLock(0)) return true;
  m_heldElsewhere = m_lock.error() == QLockFile::LockFailedError;
  return false;
}

qint64 InstanceLock::holderPid() const {
  qint64 pid = 0;
  QString host;
  QString program;
  return m_lock.getLockInfo(&pid, &host, &program) ? pid : 0;
}

#endif

}  // namespace winnow::app
