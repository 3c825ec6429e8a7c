#include "app/chats/chat/storage_fault.h"

#include <unistd.h>

#include <QFile>
#include <QFileInfo>
#include <cerrno>

namespace winnow::app {

namespace {
constexpr qint64 kLeastRoomBytes = qint64{128} * 1024;  // SQLite asks for 32 KiB of shared memory at once, and for pages
}  // namespace

ErrorCode storageCodeOf(int systemError) { return storageCodeOf(folderFaultOf(systemError)); }

ErrorCode storageCodeOf(FolderFault fault) {
  switch (fault) {
    case FolderFault::kNotPermitted:
    case FolderFault::kReadOnlyDisk: return ErrorCode::kStorageReadOnly;
    case FolderFault::kDiskFull: return ErrorCode::kStorageFull;
    default: return ErrorCode::kStorage;
  }
}

ErrorCode whyNotWritten(const QString& file) {
  // The file if it is there, then the nearest folder that is.
  QString path = file;
  while (true) {
    if (::access(QFile::encodeName(path).constData(), W_OK) != 0 && errno != ENOENT) return storageCodeOf(errno);
    if (QFileInfo(path).isDir()) break;
    const QString parent = QFileInfo(path).path();
    if (parent == path) break;
    path = parent;
  }
  const qint64 free = freeBytes(path);
  return free >= 0 && free < kLeastRoomBytes ? ErrorCode::kStorageFull : ErrorCode::kStorage;
}

}  // namespace winnow::app
