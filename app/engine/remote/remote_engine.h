// A server in the engine's place: a question becomes a request to its OpenAI-compatible API, its stream the engine's events.
//
// Made by connect_to_server.h. LoadModel tells what was found out about the model; Turn asks; what a server has no request for fails with
// kNotAble, and ModelInfo::lacks names it beforehand. The cache is the server's: of it the share of the prompt is known that it did not
// read again, no methods and no kept tokens. A server that refuses pictures by its words is not sent any more until it is connected to
// again. Errors: as Engine says; faults of servers. An answer that breaks off has been passed on as far as it came. Threads: one.
#pragma once

#include <memory>

#include "app/engine/remote/sent_media.h"
#include "app/engine/remote/server_connection.h"
#include "app/engine/remote/server_traits.h"
#include "engine/api/engine.h"

namespace winnow::app {

class RemoteEngine final : public Engine {
 public:
  // opener: outlives it; may be null.
  RemoteEngine(std::unique_ptr<ServerConnection> connection, ServerTraits traits, MediaOpener* opener);
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override;

  ModelInfo info() const;

 private:
  class Answer;

  void answer(const Turn& turn, const EmitEvent& emit, const InterruptToken& interrupt);
  std::string bodyOf(const Turn& turn, const EmitEvent& emit, const InterruptToken& interrupt);
  void ask(const Turn& turn, const EmitEvent& emit, Answer& answer, const InterruptToken& interrupt);
  void send(const std::string& body, Answer& answer, const InterruptToken& interrupt);
  void learnFrom(const Error& error);

  const std::unique_ptr<ServerConnection> m_connection;
  ServerTraits m_traits;
  SentMedia m_media;
};

}  // namespace winnow::app
