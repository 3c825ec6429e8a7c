// An engine that says on standard error what was noticed of the media that it reads, and which images take many tokens: each thing once,
// whoever asks.
//
// Wrapped around the real one by Session, so that no command can forget it. Main thread.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/api/engine.h"

namespace winnow::cli {

class NoticedEngine final : public Engine {
 public:
  explicit NoticedEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override;

 private:
  class Sink;

  const std::unique_ptr<Engine> engine_;
  std::set<std::string> said_;
  ModelInfo model_;  // that is loaded
};

}  // namespace winnow::cli
