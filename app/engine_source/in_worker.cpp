#include "app/engine_source/engine_source.h"
#include "app/worker/process_engine.h"

namespace winnow::app {

EnginePlace ownEnginePlace() { return EnginePlace::kWorkerProcess; }

// What it reads media with, and where it keeps its measurements, is the process's own.
std::unique_ptr<Engine> makeOwnEngine(MediaOpener* /*opener*/, SpeedMemory* /*speeds*/) {
  return std::make_unique<ProcessEngine>(EngineProcessSettings{workerProgram("winnow-engine")});
}

}  // namespace winnow::app
