#include "app/engine/cache_store/keeping_engine.h"

#include <optional>
#include <utility>

#include "app/engine/cache_store/model_fingerprint.h"
#include "app/ground/worker/engine_end.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

// Keeps the last event of a request and passes on what it is told to.
class Outcome final : public EventSink {
 public:
  explicit Outcome(EventSink* next = nullptr) : m_next(next) {}
  void on_event(Event event) override {
    if (event.column == Event::kNoColumn) {
      if (const auto* finished = std::get_if<Finished>(&event.body)) answered = !finished->restored;
      if (const auto* ready = std::get_if<Prepared>(&event.body)) prepared = ready->compressed;
      if (const auto* loaded = std::get_if<ModelLoaded>(&event.body)) model = loaded->info;
      if (std::holds_alternative<ModelUnloaded>(event.body)) unloaded = true;
      if (const auto* done = std::get_if<Saved>(&event.body)) saved = done->kv_bytes > 0;
      if (const auto* failed = std::get_if<Failed>(&event.body)) error = failed->error;
    }
    if (m_next != nullptr) m_next->on_event(std::move(event));
  }

  bool engineEnded() const { return error && isEngineEnd(error->code); }

  bool answered = false;
  bool prepared = false;
  bool saved = false;
  bool unloaded = false;
  std::optional<ModelInfo> model;
  std::optional<Error> error;

 private:
  EventSink* m_next;
};

std::string fingerprintOf(const ModelInfo& model) {
  if (!can(model, Ability::kKeep)) return {};
  try {
    return modelFingerprint(model.folder, model.dtype, model.projector);
  } catch (const std::exception&) {
    return {};  // what cannot be told from another model is not kept
  }
}

bool isKept(ConversationId conversation) { return conversation != kDraftConversation && conversation < kFirstUnkeptConversation; }

}  // namespace

KeepingEngine::KeepingEngine(std::unique_ptr<Engine> engine, ConversationCaches& caches) : m_engine(std::move(engine)), m_caches(caches) {}

void KeepingEngine::handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) {
  if (const auto* forget = std::get_if<ForgetConversation>(&request.body)) {
    m_engine->handle(request, sink, interrupt);
    m_recalled.erase(forget->conversation);
    m_caches.remove(forget->conversation);
    return;
  }
  const ConversationId conversation = conversation_of(request.body);
  if (std::holds_alternative<LoadConversation>(request.body)) m_recalled.insert(conversation);  // this file instead
  if (isKept(conversation) && !recall(conversation, request.id, sink, interrupt)) return;
  Outcome outcome(&sink);
  m_engine->handle(request, outcome, interrupt);
  if (outcome.engineEnded()) m_recalled.clear();
  if (outcome.unloaded) m_model.clear();
  if (outcome.model) {
    m_model = fingerprintOf(*outcome.model);
    m_recalled.clear();
    m_caches.lookAtFolder();
  }
  const bool changed = (outcome.answered && std::holds_alternative<Turn>(request.body)) || outcome.prepared;
  if (changed && isKept(conversation)) keep(conversation, request.id);
}

bool KeepingEngine::recall(ConversationId conversation, RequestId request, EventSink& sink, const InterruptToken& interrupt) {
  if (m_model.empty() || m_recalled.contains(conversation) || interrupt.requested()) return true;
  m_recalled.insert(conversation);
  if (!m_caches.has(conversation)) return true;
  Outcome outcome;
  m_engine->handle({request, LoadConversation{conversation, m_caches.pathOf(conversation), m_model}}, outcome, interrupt);
  if (outcome.engineEnded()) m_recalled.clear();
  if (interrupt.requested()) {
    m_recalled.erase(conversation);
  } else if (outcome.engineEnded()) {
    if (!m_suspected.insert(conversation).second) m_caches.remove(conversation);
    sink.on_event({request, Failed{*std::move(outcome.error)}});
    return false;
  } else if (outcome.error && outcome.error->code == ErrorCode::kPasswordNeeded) {
    m_recalled.erase(conversation);
    sink.on_event({request, Failed{*std::move(outcome.error)}});
    return false;
  } else if (outcome.error) {
    m_caches.remove(conversation);
    sink.on_event({request, CacheSetAside{*std::move(outcome.error), conversation}});
  } else {
    m_suspected.erase(conversation);
    m_caches.used(conversation);
  }
  return true;
}

void KeepingEngine::keep(ConversationId conversation, RequestId request) {
  if (m_model.empty() || !m_caches.keeps()) return;
  Outcome outcome;
  SaveConversation save{conversation, m_caches.pathToWrite(conversation), m_model, m_caches.quota().perChatBytes};
  m_engine->handle({request, std::move(save)}, outcome, {});
  if (outcome.engineEnded()) m_recalled.clear();
  if (outcome.saved) {
    m_caches.written(conversation);
  } else {
    m_caches.remove(conversation);  // what is there is of an earlier state
  }
}

}  // namespace winnow::app
