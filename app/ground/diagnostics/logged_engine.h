// An engine that tells the log what it does: models and their sizes, what a turn took, slow turns, errors with their codes.
//
// Wrapped around the real one by bootstrap, on the engine thread. Nothing of what is asked or answered is written, and no name of an
// attached file: sizes, times and codes only; of an error the reason without its subject and without what looks like a path.
#pragma once

#include <memory>

#include "app/ground/diagnostics/log.h"
#include "engine/api/engine.h"

namespace winnow::app {

// A turn whose first word took longer is a warning.
inline constexpr double kSlowMs = 10'000.0;

class LoggedEngine final : public Engine {
 public:
  // log: outlives the engine.
  LoggedEngine(std::unique_ptr<Engine> engine, Log& log);
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override;

 private:
  const std::unique_ptr<Engine> m_engine;
  Log& m_log;
};

// "code 5: the header claims 12 bytes more than <path> has"
QString errorLine(const Error& error);

}  // namespace winnow::app
