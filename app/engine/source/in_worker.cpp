#include <utility>

#include "app/engine/process/process_engine.h"
#include "app/engine/source/engine_source.h"

namespace winnow::app {

EnginePlace ownEnginePlace() { return EnginePlace::kWorkerProcess; }

// The process has its own reader of media and its own place for measurements.
std::unique_ptr<Engine> makeOwnEngine(MediaOpener* /*opener*/, SpeedMemory* /*speeds*/, const Passwords* passwords) {
  EngineProcessSettings settings{workerProgram("winnow-engine")};
  settings.passwords = passwords;
  return std::make_unique<ProcessEngine>(std::move(settings));
}

}  // namespace winnow::app
