#include "app/ground/process/own_folder.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <cerrno>

namespace winnow::app {

FolderFault folderFaultOf(int systemError) {
  switch (systemError) {
    case EEXIST:
    case ENOTDIR: return FolderFault::kFileInTheWay;
    case EACCES:
    case EPERM: return FolderFault::kNotPermitted;
    case EROFS: return FolderFault::kReadOnlyDisk;
    case ENAMETOOLONG: return FolderFault::kNameTooLong;
    case ENOSPC:
    case EDQUOT: return FolderFault::kDiskFull;
    default: return FolderFault::kNotPossible;
  }
}

namespace {

QString nearest(QString folder) {
  while (!QFileInfo(folder).isDir() && folder.size() > 1) folder = QFileInfo(folder).path();
  return folder;
}

}  // namespace

FolderState makeOwnFolder(const QString& folder) {
  const QString whole = QDir::cleanPath(QFileInfo(folder).absoluteFilePath());
  struct stat reached {};
  if (::stat(QFile::encodeName(whole).constData(), &reached) != 0 && errno == ENAMETOOLONG)
    return {FolderFault::kNameTooLong, nearest(whole)};
  QString there;  // so far
  for (const QString& part : whole.split(QLatin1Char('/'), Qt::SkipEmptyParts)) {
    const QString next = there + QLatin1Char('/') + part;
    const QByteArray name = QFile::encodeName(next);
    struct stat found {};
    if (::stat(name.constData(), &found) == 0 && S_ISDIR(found.st_mode)) {
      there = next;
      continue;
    }
    if (::mkdir(name.constData(), 0777) != 0) {
      const FolderFault fault = folderFaultOf(errno);
      return {fault, fault == FolderFault::kFileInTheWay ? next : there.isEmpty() ? QStringLiteral("/") : there};
    }
    there = next;
  }
  if (::access(QFile::encodeName(whole).constData(), W_OK | X_OK) != 0) return {folderFaultOf(errno), whole};
  return {};
}

std::string reasonOf(FolderFault fault) {
  switch (fault) {
    case FolderFault::kFileInTheWay: return "this is a file where Winnow needs a folder; move it, or set WINNOW_HOME to another folder";
    case FolderFault::kNotPermitted: return "you may not write there; allow it, or set WINNOW_HOME to another folder";
    case FolderFault::kReadOnlyDisk: return "its disk can only be read; set WINNOW_HOME to a folder on another one";
    case FolderFault::kNameTooLong: return "the path of the folder below it is too long; set WINNOW_HOME to a shorter one";
    case FolderFault::kDiskFull: return "its disk is full; make some room";
    case FolderFault::kNotPossible: return "no folder can be made there; check HOME, or set WINNOW_HOME to another folder";
    case FolderFault::kNone: break;
  }
  return {};
}

qint64 freeBytes(const QString& path) {
  struct statvfs room {};
  if (::statvfs(QFile::encodeName(path).constData(), &room) != 0) return -1;
  if (room.f_blocks == 0) return -1;  // of no disk: what it has no room for, it says itself
  const bool outOfFiles = room.f_files > 0 && room.f_favail == 0;
  return outOfFiles ? 0 : static_cast<qint64>(room.f_bavail) * static_cast<qint64>(room.f_frsize);
}

}  // namespace winnow::app
