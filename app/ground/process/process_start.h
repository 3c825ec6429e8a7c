// Settings that both programs make for their process before anything else.
//
// Used by app/programs/main.cpp and app/programs/cli/main.cpp only: all of it holds for the whole process. Main thread, before any other is
// started. Some of it has to come before libtorch's libraries are loaded, and so before main: a program that uses this ends with one
// sentence when the folder that it was started in is gone, so that no path can be resolved (status 1), and when there is not enough memory
// for its libraries (status 3). Standard input, output and error that were closed by whoever started it give errors, and no other file gets
// their numbers.
#pragma once

namespace winnow::app {

// First line of main. What is written belongs to its user alone (chats, settings, logs, tables: umask 077), and a file that grows beyond a
// limit is an error to report (EFBIG), not the end of the program (SIGXFSZ). As many files may be open as a question may have media, and
// more. Relative XDG folders count as not set.
void beginProcess();

// Right after QCoreApplication or QApplication, which take over every category of the user's locale: numbers are written and read with a
// decimal point, whatever the language. CLI11 and snprintf follow LC_NUMERIC.
void keepDecimalPoint();

}  // namespace winnow::app
