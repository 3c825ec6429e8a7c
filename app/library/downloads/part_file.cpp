#include "app/library/downloads/part_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QCryptographicHash>
#include <QFile>
#include <cerrno>

#include "app/library/downloads/download_disk.h"
#include "app/library/downloads/download_fault.h"

namespace winnow::app {
namespace {

constexpr qsizetype kReadBytes = qsizetype{1} << 20;

}  // namespace

PartFile::PartFile(const QString& path) : m_path(path) {
  m_descriptor = ::open(QFile::encodeName(path).constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (m_descriptor < 0) refuseWrite(path, errno);
  struct stat status {};
  const bool regular = ::fstat(m_descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const bool held = regular && ::flock(m_descriptor, LOCK_EX | LOCK_NB) != 0;
  const int code = errno;
  if (regular && !held) {
    m_size = status.st_size;
    return;
  }
  ::close(m_descriptor);
  if (!regular) throw DownloadError({DownloadProblem::kUnwritable, path, QStringLiteral("it is not a regular file")});
  if (code == EWOULDBLOCK) throw DownloadError({DownloadProblem::kBusy, path, QStringLiteral("another process is fetching it")});
  refuseWrite(path, code);
}

PartFile::~PartFile() { ::close(m_descriptor); }

void PartFile::append(QByteArrayView bytes) {
  while (!bytes.isEmpty()) {
    const ssize_t done = ::pwrite(m_descriptor, bytes.data(), static_cast<std::size_t>(bytes.size()), m_size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) refuseWrite(m_path, errno);
    m_size += done;
    bytes = bytes.sliced(done);
  }
}

void PartFile::clear() {
  if (::ftruncate(m_descriptor, 0) != 0) refuseWrite(m_path, errno);
  m_size = 0;
}

void PartFile::remove() {
  if (::unlink(QFile::encodeName(m_path).constData()) != 0 && errno != ENOENT) refuseWrite(m_path, errno);
}

QByteArray PartFile::sha256(const InterruptToken& interrupt, const std::function<void(qint64 done)>& progress) const {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  QByteArray piece(kReadBytes, Qt::Uninitialized);
  for (qint64 at = 0; at < m_size;) {
    interrupt.throw_if_requested();
    const ssize_t done = ::pread(m_descriptor, piece.data(), static_cast<std::size_t>(piece.size()), at);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) refuseWrite(m_path, errno);
    if (done == 0) break;  // somebody has cut it: the hash will tell
    hash.addData(QByteArrayView(piece).first(done));
    at += done;
    progress(at);
  }
  return hash.result().toHex();
}

}  // namespace winnow::app
