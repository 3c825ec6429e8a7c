// `--in-process`: the engine and the reader of media in the program itself, for debuggers.
//
// Used by both programs' main. A program whose engine is a process of its own has no libtorch; the same program with it lies beside, named
// <program>-in-process, and takes its place.
#pragma once

namespace winnow::app {

inline constexpr const char* kInProcessOption = "--in-process";

// First in main, before other threads and before the command line is read. Whether the option was given, which is taken out of the line;
// where the engine would be a process of its own, the program beside this one takes its place, with the same line. Where that cannot be
// started, says so and exits with status 1.
bool followInProcessOption(int& argc, char** argv);

}  // namespace winnow::app
