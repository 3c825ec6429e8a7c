// Which of the storage codes says why a file of the chats could not be made, opened or written.
//
// Used inside app/chats/chat. Asks the disk; any thread.
#pragma once

#include <QString>

#include "app/ground/process/own_folder.h"
#include "engine/base/error.h"

namespace winnow::app {

// By the operating system's number; kStorage where it says nothing that would help.
ErrorCode storageCodeOf(int systemError);
// By what is found of the file and its folder: may they be written, is there room?
ErrorCode whyNotWritten(const QString& file);

// The code of a folder that cannot be made or written to; not for kNone.
ErrorCode storageCodeOf(FolderFault fault);

}  // namespace winnow::app
