// How the engine's process ended, as an error. Threads: plain functions. Errors: none.
#pragma once

#include <string>

#include "app/ground/worker/worker_process.h"
#include "engine/base/error.h"

namespace winnow::app {

// An engine's process that ends with this status had no memory left (app/ground/process/process_start.h).
inline constexpr int kNoMemoryStatus = 3;

// kEngineCrashed or kEngineOutOfMemory, with the signal or the status.
Error engineEnd(const WorkerEnd& end);

// The same of one that ended before it said a word: where a library that it needs is not there, that library is the subject. It waits for
// the system's loader.
Error engineStartFault(const WorkerEnd& end, const std::string& program);

// True if an error says that the engine's process has ended, and with it all that it had read. A GPU that has failed answers nothing more
// in that process.
inline bool isEngineEnd(ErrorCode code) {
  return code == ErrorCode::kEngineCrashed || code == ErrorCode::kEngineOutOfMemory || code == ErrorCode::kEngineSilent ||
         code == ErrorCode::kDeviceFailed;
}

}  // namespace winnow::app
