// An engine behind the wire, in this process: every request and event goes through its encoded form, as to and from winnow-engine.
#pragma once

#include <memory>
#include <utility>

#include "engine/api/engine.h"
#include "engine/messages/wire.h"

namespace winnow::test {

class WiredEngine final : public Engine {
 public:
  explicit WiredEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override {
    Wire wire(sink);
    engine_->handle(decoded_request(encoded(request)), wire, interrupt);
  }

 private:
  class Wire final : public EventSink {
   public:
    explicit Wire(EventSink& sink) : sink_(sink) {}
    void on_event(Event event) override { sink_.on_event(decoded_event(encoded(event))); }

   private:
    EventSink& sink_;
  };

  const std::unique_ptr<Engine> engine_;
};

}  // namespace winnow::test
