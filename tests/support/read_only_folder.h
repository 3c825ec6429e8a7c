// Takes the right to write in a folder away from everybody, root included, until it goes. For Qt tests.
#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QFile>
#include <QString>

namespace winnow::test {

class ReadOnlyFolder {
 public:
  explicit ReadOnlyFolder(const QString& folder) : m_folder(QFile::encodeName(folder)) {
    ::chmod(m_folder.constData(), 0555);
    if (::access(m_folder.constData(), W_OK) == 0) setImmutable(true);
  }
  ~ReadOnlyFolder() {
    if (m_immutable) setImmutable(false);
    ::chmod(m_folder.constData(), 0755);
  }
  ReadOnlyFolder(const ReadOnlyFolder&) = delete;
  ReadOnlyFolder& operator=(const ReadOnlyFolder&) = delete;

  // Root on a file system without such a mark writes everywhere.
  bool holds() const { return ::access(m_folder.constData(), W_OK) != 0; }

 private:
  void setImmutable(bool on) {
    const int descriptor = ::open(m_folder.constData(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int flags = 0;
    if (descriptor >= 0 && ::ioctl(descriptor, FS_IOC_GETFLAGS, &flags) == 0) {
      flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
      m_immutable = ::ioctl(descriptor, FS_IOC_SETFLAGS, &flags) == 0 && on;
    }
    if (descriptor >= 0) ::close(descriptor);
  }

  const QByteArray m_folder;
  bool m_immutable = false;
};

}  // namespace winnow::test
