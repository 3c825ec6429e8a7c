// How much room a file system has.
//
// Used before large files are written. Asks the disk; any thread. Errors: none.
#pragma once

#include <QString>

namespace winnow::app {

// Bytes that an ordinary user may still fill on the file system that holds `path`, which exists; negative: unknown. statvfs, not
// QStorageInfo: that looks the path up among the mounts, and inside containers it may find none.
qint64 freeBytes(const QString& path);

}  // namespace winnow::app
