// A download's demands on the disk that it writes to: a folder, room, and why a write failed, as the faults of a download.
//
// Used by part_file.h, package_download.h and app/library/hub. Errors: DownloadError (kNoSpace, kUnwritable). Threads: any.
#pragma once

#include <QString>

#include "app/library/downloads/download_source.h"

namespace winnow::app {

// Throws what the errno says that writing there left.
[[noreturn]] void refuseWrite(const QString& path, int systemError);
// It is there and can be written to; made where it was missing.
void requireFolder(const QString& folder);
// The folder must exist. If its free space is unknown, nothing is refused.
void requireFreeBytes(const DownloadSource& source, const QString& folder, qint64 needed);

}  // namespace winnow::app
