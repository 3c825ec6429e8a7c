// The folders of Winnow's files: data (chats, settings), cache (thumbnails; may be cleared), state (logs).
//
// Used by bootstrap and the terminal program. $WINNOW_HOME overrides all three (tests, portable use: <home>/data, /cache, /state);
// otherwise $XDG_DATA_HOME/winnow, $XDG_CACHE_HOME/winnow, $XDG_STATE_HOME/winnow and the platform's equivalents.
// Folders are not made here. Threads: any.
#pragma once

#include <QString>

namespace winnow::app {

struct AppFolders {
  QString data;
  QString cache;
  QString state;

  static AppFolders standard();
  static AppFolders under(const QString& home);
};

// Mends the folders of the program's own that an earlier version left readable by every account of the machine: takes the rights of group
// and others away from each and, where it had some, from every file and folder below (links are not followed). A folder that nobody else
// can enter is not walked through. Before anything in them is opened; what is made from now on is private by the process's umask
// (app/ground/process). Errors: none; what belongs to somebody else stays as it is. Main thread.
void makePrivate(const AppFolders& folders);

}  // namespace winnow::app
