// The engine's public face: requests in, events out.
//
// Used by app/engine_host (on its own thread) and by the terminal program. Confined to the thread that created it, except the
// interrupt tokens. handle() never throws and never ends the process: every error becomes a Failed event.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/api/events.h"
#include "engine/api/requests.h"

namespace winnow {

// One compression preset, for lists and cards.
struct MethodInfo {
  std::string name;
  std::string title;
  std::string source;  // paper or code
  std::string phase;   // once, decode, ratio-decode
  bool query_aware = false;
  bool merges = false;
  std::vector<std::string> needs;    // statistics, in words of methods' taxonomy
  std::vector<std::string> options;  // "window=32", defaults in text
};

std::vector<MethodInfo> list_methods();

class Engine {
 public:
  virtual ~Engine() = default;
  // Runs the request to its end; events go to the sink as they happen, the last is ModelLoaded, Finished or Failed
  // (ForgetConversation is silent).
  virtual void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) = 0;
};

// `opener` must outlive the engine; it may be null for text-only use.
std::unique_ptr<Engine> make_engine(MediaOpener* opener);

}  // namespace winnow
