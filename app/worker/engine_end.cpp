#include "app/worker/engine_end.h"

#include <cstring>
#include <string>

#include "app/worker/engine_protocol.h"

namespace winnow::app {

Error engineEnd(const WorkerEnd& end) {
  switch (end.kind) {
    case WorkerEnd::Kind::kOutOfMemory:
      return {ErrorCode::kEngineOutOfMemory, "", "the engine was ended by the system to free memory"};
    case WorkerEnd::Kind::kSignal: {
      const char* const name = ::sigdescr_np(end.code);
      const std::string known = name != nullptr ? " (" + std::string(name) + ")" : "";
      return {ErrorCode::kEngineCrashed, "", "the engine was ended by signal " + std::to_string(end.code) + known};
    }
    case WorkerEnd::Kind::kExited:
      if (end.code == kNoMemoryStatus) return {ErrorCode::kEngineOutOfMemory, "", "the engine ended because it had no memory left"};
      return {ErrorCode::kEngineCrashed, "", "the engine ended with status " + std::to_string(end.code)};
    case WorkerEnd::Kind::kEnded:
      break;
  }
  return {ErrorCode::kEngineCrashed, "", "the engine closed its channel"};
}

}  // namespace winnow::app
