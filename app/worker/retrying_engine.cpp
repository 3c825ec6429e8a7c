#include "app/worker/retrying_engine.h"

#include <utility>

#include "app/worker/engine_end.h"

namespace winnow::app {
namespace {

// Whether a request may run twice. A new kind of request does not compile without its line here.
struct MayRunAgain {
  bool operator()(const LoadModel& /*request*/) const { return false; }  // what took the memory once takes it again
  bool operator()(const Turn& /*request*/) const { return true; }
  bool operator()(const ExportTurn& /*request*/) const { return true; }
  bool operator()(const Compare& /*request*/) const { return true; }
  bool operator()(const Score& /*request*/) const { return true; }
  bool operator()(const Plan& /*request*/) const { return true; }
  bool operator()(const Prepare& /*request*/) const { return true; }
  bool operator()(const WatchClip& /*request*/) const { return false; }
  bool operator()(const SaveConversation& /*request*/) const { return false; }
  bool operator()(const LoadConversation& /*request*/) const { return false; }
  bool operator()(const ForgetConversation& /*request*/) const { return false; }
  bool operator()(const Tokenize& /*request*/) const { return true; }
  bool operator()(const Detokenize& /*request*/) const { return true; }
};

// Holds back the end of the engine, once.
class FirstTry final : public EventSink {
 public:
  FirstTry(EventSink& next, const InterruptToken& interrupt) : m_next(next), m_interrupt(interrupt) {}

  void on_event(Event event) override {
    const auto* failed = std::get_if<Failed>(&event.body);
    if (failed != nullptr && isEngineEnd(failed->error.code) && !m_spoken && !m_interrupt.requested()) {
      again = true;
      return;
    }
    m_spoken = m_spoken || std::holds_alternative<TextDelta>(event.body) || std::holds_alternative<TokenSampled>(event.body);
    if (std::holds_alternative<MediaSampled>(event.body)) ++sampled;
    m_next.on_event(std::move(event));
  }

  bool again = false;
  int sampled = 0;  // media that were told of

 private:
  EventSink& m_next;
  const InterruptToken& m_interrupt;
  bool m_spoken = false;
};

// Leaves out the media that the first try told of: they are listed where they are counted.
class SecondTry final : public EventSink {
 public:
  SecondTry(EventSink& next, int sampled) : m_next(next), m_sampled(sampled) {}
  void on_event(Event event) override {
    if (std::holds_alternative<MediaSampled>(event.body) && m_sampled-- > 0) return;
    m_next.on_event(std::move(event));
  }

 private:
  EventSink& m_next;
  int m_sampled;
};

}  // namespace

RetryingEngine::RetryingEngine(std::unique_ptr<Engine> engine) : m_engine(std::move(engine)) {}

void RetryingEngine::handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) {
  if (!std::visit(MayRunAgain{}, request.body)) return m_engine->handle(request, sink, interrupt);
  FirstTry first(sink, interrupt);
  m_engine->handle(request, first, interrupt);
  if (!first.again) return;
  SecondTry second(sink, first.sampled);
  second.on_event({request.id, Progress{Phase::kLoadWeights, 0, 0}});  // what was shown of the first try is over
  m_engine->handle(request, second, interrupt);
}

}  // namespace winnow::app
