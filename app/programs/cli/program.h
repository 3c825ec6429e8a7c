// The terminal program without its process: reads the command line, runs one command, turns errors into a sentence and an exit status.
//
// Used by main.cpp, and by tests, which call it many times in one process. Needs a QCoreApplication (it finds the program's own folder; no
// event loop runs). Reads stdin, writes stdout and stderr. Main thread only.
#pragma once

#include "app/programs/cli/exit_status.h"

class QCoreApplication;

namespace winnow::cli {

// In the sentences of app/words: English and plain numbers ("4.7 GB", "2034"), whatever the desktop speaks. Before the first command.
void speak_english(QCoreApplication& application);

ExitStatus run_program(int argc, const char* const* argv);

}  // namespace winnow::cli
