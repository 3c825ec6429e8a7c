// Another machine's Winnow in the engine's place, with all that an engine can do but what needs files or a camera there.
//
// Made by connect_to_server.h. A request goes as it is, its files by their hashes, and what comes back are the engine's own events:
// methods, plans, comparisons, kept maps and figures are those of that machine. Stop is told beside the answer, which then ends as it does
// there; who cancels hangs up. A connection that is lost fails the request; what had come was passed on. Errors: as Engine says; faults of
// servers. Threads: one.
#pragma once

#include <memory>
#include <string>

#include "app/engine/remote/carried_media.h"
#include "app/engine/remote/server_connection.h"
#include "engine/api/engine.h"

namespace winnow::app {

class WinnowServerEngine final : public Engine {
 public:
  explicit WinnowServerEngine(std::unique_ptr<ServerConnection> connection);
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override;

 private:
  class Answer;

  void load(RequestId id, EventSink& sink, const InterruptToken& interrupt);
  void forward(const Request& request, Answer& answer, const InterruptToken& interrupt);
  enum class Sent : int { kAnswered = 1, kMediaMissing = 2 };
  Sent send(const Request& request, Answer& answer, const InterruptToken& interrupt);
  std::string path(const char* what) const;

  const std::unique_ptr<ServerConnection> m_connection;
  CarriedMedia m_media;
  std::string m_name;  // of the model that was loaded
  std::string m_mark;  // likewise: no other one is to answer
};

// True if what answers there is a Winnow that can be asked so. Throws Exception(kServerNotUnderstood) for one of another version.
bool isWinnowServer(ServerConnection& connection, const InterruptToken& interrupt);

}  // namespace winnow::app
