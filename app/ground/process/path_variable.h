// A file or folder that an environment variable names.
//
// Used wherever other programs' folders, or the desktop's, can be moved. No errors. Threads: any.
#pragma once

#include <QString>

namespace winnow::app {

// Without doubled or closing slashes. Empty: it is not set, or relative: such a one would lie in whichever folder the program was started
// in, and XDG's specification has it ignored.
QString pathVariable(const char* name);

}  // namespace winnow::app
