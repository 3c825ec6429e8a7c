// The source of a program's engine: declared once, and linked as the program is to be.
//
// Used by main.cpp and app/programs/cli. winnow::app_engine_in_worker defines it by winnow-engine, a process beside the program's.
// winnow::app_engine_in_process defines it by the engine itself and brings libtorch; nothing else above the engine does.
// Threads: those of the engine that is made.
#pragma once

#include <memory>

#include "app/media/files/passwords.h"
#include "engine/api/engine.h"

namespace winnow::app {

enum class EnginePlace {
  kInProcess,      // in the program that asks: a fault of the engine ends it, and a debugger sees both
  kWorkerProcess,  // in one that it starts
};

EnginePlace ownEnginePlace();

// All must outlive the engine, as in make_engine(); a worker process has its own opener and speeds, and is told the passwords of documents
// (null: there are none), which an opener in this process has itself.
std::unique_ptr<Engine> makeOwnEngine(MediaOpener* opener, SpeedMemory* speeds, const Passwords* passwords);

}  // namespace winnow::app
