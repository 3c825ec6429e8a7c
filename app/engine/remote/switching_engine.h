// The engine of the model that is loaded: this machine's, or a server's.
//
// Wrapped around where a program's own engine comes from. A LoadModel whose folder is a server's address (server_address.h) connects to it;
// any other goes to the own engine, which is made when it is first needed and given up while a server answers, so that it holds no memory.
// Until a model is loaded, requests go to the own engine. Errors: those of connectToServer() and of the engines; a server that cannot be
// connected to leaves the model of before loaded. Threads: one.
#pragma once

#include <functional>
#include <memory>

#include "app/engine/remote/server_address.h"
#include "engine/api/engine.h"

namespace winnow::app {

class SwitchingEngine final : public Engine {
 public:
  using MakeOwn = std::function<std::unique_ptr<Engine>()>;
  using Connect = std::function<std::unique_ptr<Engine>(const ServerAddress&, const InterruptToken&)>;
  enum class Begin : int { kWithOwn = 1, kWithNone = 2 };  // kWithOwn: makes it at once, so that it starts while a window opens

  SwitchingEngine(MakeOwn own, Connect connect, Begin begin);
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override;
  void handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) override;

 private:
  Engine& own();
  void connect(const Request& request, const LoadModel& load, EventSink& sink, const InterruptToken& interrupt);

  const MakeOwn m_makeOwn;
  const Connect m_connect;
  std::unique_ptr<Engine> m_own;     // null: not needed
  std::unique_ptr<Engine> m_server;  // null: the own engine answers
};

}  // namespace winnow::app
