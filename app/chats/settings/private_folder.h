// Mends the folders of the program's own that an earlier version left readable by every account of the machine.
//
// Used by bootstrap and the terminal program before anything in them is opened; what is made from now on is private by the process's umask
// (app/ground/process). Errors: none; what belongs to somebody else stays as it is. Main thread.
#pragma once

#include "app/chats/settings/app_folders.h"

namespace winnow::app {

// Takes the rights of group and others away from each folder and, where it had some, from every file and folder below (links are not
// followed). A folder that nobody else can enter is not walked through.
void makePrivate(const AppFolders& folders);

}  // namespace winnow::app
