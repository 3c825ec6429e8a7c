// The engine's public face: requests in, events out.
//
// Used by app/engine/host (on its own thread) and by the terminal program. No torch: the library winnow::engine_face has all of this but
// make_engine(), which winnow::engine adds with libtorch. Confined to the thread that created it, except the
// interrupt tokens. handle() never throws and never ends the process: every error becomes a Failed event.
#pragma once

#include <memory>
#include <string>

#include "engine/api/waiting.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"
#include "engine/metrics/machine_speed.h"
#include "engine/recipes/method_info.h"

namespace winnow {

class Engine {
 public:
  virtual ~Engine() = default;
  // Runs the request to its end; events go to the sink as they happen, the last is ModelLoaded, Finished, Scored, Compared,
  // Planned, Prepared, Watched, Saved, Restored, Tokenized, Transcribed or Failed (ForgetConversation is silent).
  virtual void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) = 0;
  // The same; meanwhile an engine that can takes turns out of `waiting` and answers them in the same steps, each to its own sink. Comes
  // back when all of them have ended. sink is there until then.
  virtual void handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& /*waiting*/) {
    handle(request, sink, interrupt);
  }
};

// Both must outlive the engine. opener may be null for text-only use; speeds may be null: what was measured is then forgotten with the
// engine.
std::unique_ptr<Engine> make_engine(MediaOpener* opener, SpeedMemory* speeds = nullptr);

// The version of the libtorch that the engine was built with, which need not be loaded: "2.11.0".
std::string libtorch_version();

}  // namespace winnow
