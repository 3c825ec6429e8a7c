#include "app/library/downloads/download_disk.h"

#include <cerrno>
#include <system_error>

#include "app/ground/process/own_folder.h"
#include "app/library/downloads/download_fault.h"

namespace winnow::app {

void refuseWrite(const QString& path, int systemError) {
  const bool full = systemError == ENOSPC || systemError == EDQUOT;
  throw DownloadError({full ? DownloadProblem::kNoSpace : DownloadProblem::kUnwritable, path,
                       QString::fromStdString(std::generic_category().message(systemError))});
}

void requireFolder(const QString& folder) {
  const FolderState made = makeOwnFolder(folder);
  if (made) return;
  throw DownloadError({made.fault == FolderFault::kDiskFull ? DownloadProblem::kNoSpace : DownloadProblem::kUnwritable, made.path,
                       QString::fromStdString(reasonOf(made.fault))});
}

void requireFreeBytes(const DownloadSource& source, const QString& folder, qint64 needed) {
  const qint64 free = source.freeBytes(folder);
  if (free < 0 || free >= needed) return;
  throw DownloadError(
      {DownloadProblem::kNoSpace, folder, QStringLiteral("%1 bytes are free, %2 are needed").arg(free).arg(needed), needed});
}

}  // namespace winnow::app
