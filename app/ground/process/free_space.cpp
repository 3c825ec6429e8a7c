#include "app/ground/process/free_space.h"

#include <sys/statvfs.h>

#include <QFile>

namespace winnow::app {

qint64 freeBytes(const QString& path) {
  struct statvfs room {};
  if (::statvfs(QFile::encodeName(path).constData(), &room) != 0) return -1;
  if (room.f_blocks == 0) return -1;  // of no disk: what it has no room for, it says itself
  const bool outOfFiles = room.f_files > 0 && room.f_favail == 0;
  return outOfFiles ? 0 : static_cast<qint64>(room.f_bavail) * static_cast<qint64>(room.f_frsize);
}

}  // namespace winnow::app
