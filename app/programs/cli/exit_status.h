// Exit codes and error sentences of the terminal program: scripts rely on both.
#pragma once

#include <string>

#include "engine/base/error.h"

namespace winnow::cli {

enum class ExitStatus : int {
  kAnswered = 0,
  kRefusedInput = 1,  // one sentence on stderr names the file and the reason
  kWrongUsage = 2,
  kEngineFailed = 3,   // out of memory, device, our own fault
  kNoWord = 4,         // the answer is empty; one sentence on stderr says why
  kInterrupted = 130,  // by Ctrl+C (SIGINT)
  kTerminated = 143,   // by SIGTERM
};

ExitStatus exit_status(const Error& error);

// "winnow-cli: clip.mp4: the file is empty"
std::string error_sentence(const Error& error);

}  // namespace winnow::cli
