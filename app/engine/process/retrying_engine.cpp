#include "app/engine/process/retrying_engine.h"

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "app/ground/worker/engine_end.h"

namespace winnow::app {
namespace {

// True for a request that may run twice. A new kind of request does not compile without its line here.
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
  bool operator()(const Transcribe& /*request*/) const { return true; }
};

// Holds back the end of the engine, once.
class FirstTry final : public EventSink {
 public:
  FirstTry(EventSink& next, InterruptToken interrupt, const RequestBody& request, bool mayRunAgain = true)
      : m_next(next), m_interrupt(std::move(interrupt)), m_mayRunAgain(mayRunAgain && std::visit(MayRunAgain{}, request)) {
    if (const auto* const listens = std::get_if<Transcribe>(&request)) m_rest = *listens;
  }

  void on_event(Event event) override {
    const auto* failed = std::get_if<Failed>(&event.body);
    engineEnded = failed != nullptr && isEngineEnd(failed->error.code);
    const bool mediaEnded = m_rest && failed != nullptr && failed->error.code == ErrorCode::kMediaCrashed;
    again = (engineEnded || mediaEnded) && m_mayRunAgain && !m_spoken && !m_interrupt.requested();
    if (again) return;
    modelChanged = modelChanged || std::holds_alternative<ModelLoaded>(event.body) || std::holds_alternative<ModelUnloaded>(event.body);
    m_spoken = m_spoken || std::holds_alternative<TextDelta>(event.body) || std::holds_alternative<TokenSampled>(event.body);
    if (const auto* const told = std::get_if<LinesHeard>(&event.body); told != nullptr && m_rest) go_on_behind(*told, *m_rest);
    if (std::holds_alternative<MediaSampled>(event.body)) ++sampled;
    m_next.on_event(std::move(event));
  }

  // The request without the part that is done.
  Request rest(Request request) const {
    if (m_rest) request.body = *m_rest;
    return request;
  }

  bool engineEnded = false;
  bool again = false;
  bool modelChanged = false;
  int sampled = 0;  // media that were told of

 private:
  EventSink& m_next;
  const InterruptToken m_interrupt;
  const bool m_mayRunAgain;
  bool m_spoken = false;
  std::optional<Transcribe> m_rest;  // of what is heard
};

// A request that was taken in beside another.
struct Joined {
  explicit Joined(AskedRequest request) : asked(std::move(request)), first(*asked.sink, asked.interrupt, asked.request.body) {}
  AskedRequest asked;
  FirstTry first;
  bool over = std::holds_alternative<ForgetConversation>(asked.request.body);
};

class PassedTo final : public EventSink {
 public:
  explicit PassedTo(Joined& joined) : m_joined(joined) {}
  void on_event(Event event) override {
    m_joined.over = ends_request(event);
    m_joined.first.on_event(std::move(event));
  }

 private:
  Joined& m_joined;
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
  NobodyWaits nobody;
  handle_together(request, sink, interrupt, nobody);
}

void RetryingEngine::handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) {
  const ConversationId conversation = conversation_of(request.body);
  const auto* const clip = std::get_if<WatchClip>(&request.body);
  const bool forgets = std::holds_alternative<ForgetConversation>(request.body);
  if (forgets || (clip != nullptr && clip->begins)) m_gone.erase(conversation);
  if (forgets) m_watched.erase(conversation);
  if (!std::holds_alternative<Plan>(request.body) && m_gone.erase(conversation) > 0)
    return sink.on_event({request.id, Failed{{ErrorCode::kEngineCrashed, "", "what was seen of the source has gone with the engine"}}});
  if (clip != nullptr) m_watched.insert(conversation);
  FirstTry first(sink, interrupt, request.body, !m_watched.contains(conversation));
  std::list<Joined> joined;
  WaitingBehind behind(
      waiting,
      [&](const AskedRequest& asked) {
        joined.remove_if([](const Joined& each) { return each.over && !each.first.again; });
        return std::make_unique<PassedTo>(joined.emplace_back(asked));
      },
      [&](const Request& head) {
        const ConversationId of = conversation_of(head.body);
        return !m_gone.contains(of) && !m_watched.contains(of);
      });
  m_engine->handle_together(request, first, interrupt, behind);
  const bool engineEnded = first.engineEnded || std::ranges::any_of(joined, [](const Joined& each) { return each.first.engineEnded; });
  if (engineEnded) m_gone.merge(m_watched);
  if (first.engineEnded) m_gone.erase(conversation);
  if (engineEnded || first.modelChanged) m_watched.clear();
  if (first.modelChanged) m_gone.clear();
  if (first.again) tryAgain(first.rest(request), sink, first.sampled, interrupt);
  for (const Joined& each : joined) {
    if (each.first.again) tryAgain(each.first.rest(each.asked.request), *each.asked.sink, each.first.sampled, each.asked.interrupt);
  }
}

void RetryingEngine::tryAgain(const Request& request, EventSink& sink, int sampled, const InterruptToken& interrupt) {
  SecondTry second(sink, sampled);
  second.on_event({request.id, Progress{Phase::kLoadWeights, 0, 0}});  // what was shown of the first try is over
  m_engine->handle(request, second, interrupt);
}

}  // namespace winnow::app
