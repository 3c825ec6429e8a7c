#include "app/engine/process/process_engine.h"
#include "app/engine/source/engine_source.h"

namespace winnow::app {

EnginePlace ownEnginePlace() { return EnginePlace::kWorkerProcess; }

// The process has its own reader of media and its own place for measurements.
std::unique_ptr<Engine> makeOwnEngine(MediaOpener* /*opener*/, SpeedMemory* /*speeds*/) {
  return std::make_unique<ProcessEngine>(EngineProcessSettings{workerProgram("winnow-engine")});
}

}  // namespace winnow::app
