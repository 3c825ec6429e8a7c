#include "app/engine/remote/switching_engine.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/messages/interrupted.h"

namespace winnow::app {
namespace {

// Notes if a model was loaded, and passes on everything.
class LoadWatch final : public EventSink {
 public:
  explicit LoadWatch(EventSink& next) : m_next(next) {}
  void on_event(Event event) override {
    if (std::holds_alternative<ModelLoaded>(event.body)) loaded = true;
    m_next.on_event(std::move(event));
  }

  bool loaded = false;

 private:
  EventSink& m_next;
};

}  // namespace

SwitchingEngine::SwitchingEngine(MakeOwn own, Connect connect, Begin begin) : m_makeOwn(std::move(own)), m_connect(std::move(connect)) {
  if (begin == Begin::kWithOwn) this->own();
}

Engine& SwitchingEngine::own() {
  if (!m_own) m_own = m_makeOwn();
  return *m_own;
}

void SwitchingEngine::handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) {
  NobodyWaits nobody;
  handle_together(request, sink, interrupt, nobody);
}

void SwitchingEngine::handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) {
  // A server hears nothing.
  if (std::holds_alternative<Transcribe>(request.body)) return own().handle_together(request, sink, interrupt, waiting);
  const auto* load = std::get_if<LoadModel>(&request.body);
  if (load == nullptr) return (m_server ? *m_server : own()).handle_together(request, sink, interrupt, waiting);
  if (isServerAddress(load->folder)) return connect(request, *load, sink, interrupt);
  LoadWatch watch(sink);
  own().handle(request, watch, interrupt);
  if (watch.loaded) m_server.reset();
  if (m_server) m_own.reset();  // what was begun there would hold memory
}

void SwitchingEngine::connect(const Request& request, const LoadModel& load, EventSink& sink, const InterruptToken& interrupt) {
  const EmitEvent emit(sink, request.id);
  std::unique_ptr<Engine> server;
  try {
    server = m_connect(serverAddressOf(load.folder), interrupt);
  } catch (const Interrupted&) {
    return emit(interrupted_and_restored());
  } catch (...) {
    return emit(Failed{current_error(load.folder)});
  }
  LoadWatch watch(sink);
  server->handle(request, watch, interrupt);
  if (!watch.loaded) return;
  m_own.reset();
  m_server = std::move(server);
}

}  // namespace winnow::app
