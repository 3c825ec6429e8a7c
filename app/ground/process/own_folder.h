// A folder of the program's own: made where it is missing, why it cannot be made or written to, by its true cause, and how much room its
// file system has.
//
// Used before chats, models and pasted pictures are saved. Asks the operating system, never guesses; any thread. Errors: none, they are the
// answer.
#pragma once

#include <QString>
#include <string>

namespace winnow::app {

enum class FolderFault : int {
  kNone = 0,
  kFileInTheWay = 1,  // where a folder has to be, or above it
  kNotPermitted = 2,
  kReadOnlyDisk = 3,
  kNameTooLong = 4,
  kDiskFull = 5,
  kNotPossible = 6,  // this file system makes no folders there, or is broken
};

struct FolderState {
  FolderFault fault = FolderFault::kNone;
  QString path{};  // the file in the way, or the folder in which nothing can be made or written

  explicit operator bool() const { return fault == FolderFault::kNone; }
};

// The fault behind an errno that a call on a file or a folder left.
FolderFault folderFaultOf(int systemError);

// The folder is there and can be written to; it and those above it were made where they were missing.
FolderState makeOwnFolder(const QString& folder);

// The fault and what helps: one English clause without a full stop. Empty for kNone.
std::string reasonOf(FolderFault fault);

// How much room a file system has.
//
// Used before large files are written. Asks the disk; any thread.

// Bytes that an ordinary user may still fill on the file system that holds `path`, which exists; negative: unknown. statvfs, not
// QStorageInfo: that looks the path up among the mounts, and inside containers it may find none.
qint64 freeBytes(const QString& path);

}  // namespace winnow::app
