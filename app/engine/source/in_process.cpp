#include "app/engine/source/engine_source.h"

namespace winnow::app {

EnginePlace ownEnginePlace() { return EnginePlace::kInProcess; }

std::unique_ptr<Engine> makeOwnEngine(MediaOpener* opener, SpeedMemory* speeds, const Passwords* /*passwords*/) {
  return make_engine(opener, speeds);
}

}  // namespace winnow::app
