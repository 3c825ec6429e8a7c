#include "app/engine/process/process_engine.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "app/engine/process/engine_protocol.h"
#include "app/ground/worker/answer_wait.h"
#include "app/ground/worker/engine_end.h"
#include "engine/base/replaced_file.h"
#include "engine/messages/interrupted.h"
#include "engine/messages/wire.h"
#include "engine/messages/wire_value.h"

namespace winnow::app {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kEndPatience{5'000};  // between the end of the channel and that of the process
constexpr std::ptrdiff_t kMostSent = 16;     // requests that it has at a time; more are not decoded together

Event decodedEvent(const ChannelMessage& message) {
  try {
    return decoded_event(message.bytes);
  } catch (const Exception&) {
    throw ChannelBroken(ChannelBroken::Cause::kGarbage);
  }
}

// A file that its process was writing lies beside it under another name.
void removeUnfinished(const RequestBody& body) {
  if (const auto* save = std::get_if<SaveConversation>(&body)) remove_unfinished(save->path);
  if (const auto* turn = std::get_if<ExportTurn>(&body)) remove_unfinished(turn->path);
}

// Identifies the model: what it has measured of this machine may be another in the next process.
std::vector<std::uint8_t> encodedInfo(ModelInfo info) {
  info.frame_ms = 0.0;
  return encoded(Event{0, ModelLoaded{std::move(info)}});
}

}  // namespace

// Delivers to the sink of one request: nothing after its last event, and one last event whatever happens.
class ProcessEngine::Delivery {
 public:
  enum class Of : int { kRequest = 1, kReload = 2 };

  Delivery(const Request& request, EventSink& sink)
      : m_id(request.id),
        m_conversation(conversation_of(request.body)),
        m_silent(std::holds_alternative<ForgetConversation>(request.body)),
        m_sink(sink) {}

  // It is sent: from now on interrupts are told.
  void sent(const InterruptToken& interrupt, const std::function<void(Interrupt)>& tell, milliseconds reaction) {
    m_either = InterruptSource(interrupt);
    m_interrupt.emplace(m_either.token(), tell, reaction);
    returned = false;
  }
  ToldInterrupt& interrupt() { return *m_interrupt; }
  // It runs: what it was told before is to be answered from now on.
  void begins() {
    if (!std::exchange(m_begun, true)) m_interrupt->restart();
  }
  // An answer to the interrupt is due: not from one that waits for others, nor from one that has ended before them.
  bool isExpected() const { return !returned && m_begun && !isOver(); }

  void pass(Event event) {
    begins();
    if (const auto* loaded = std::get_if<ModelLoaded>(&event.body)) info = encodedInfo(loaded->info);
    if (std::holds_alternative<ModelUnloaded>(event.body)) unloaded = true;
    if (const auto* failed = std::get_if<Failed>(&event.body)) spent = isEngineEnd(failed->error.code);
    const bool progress = std::holds_alternative<Progress>(event.body);
    const bool own = of == Of::kReload && !progress && (!ends_request(event) || info);
    if (!own) give(std::move(event));
  }
  // The request has failed, unless it has ended already.
  void fail(Error error) {
    if (!m_ended && !m_fault) m_fault = std::move(error);
  }
  void interrupted() { give({m_id, interrupted_and_restored()}); }
  void close() {
    if (m_fault && !m_ended && !m_silent) m_sink.on_event({m_id, Failed{*std::move(m_fault)}});
  }

  // Nothing more reaches the sink.
  bool isOver() const { return m_ended || m_silent; }
  RequestId id() const { return m_id; }
  ConversationId conversation() const { return m_conversation; }

  Of of = Of::kRequest;
  bool returned = true;                           // by the process: it has nothing to do with it any more
  std::optional<std::vector<std::uint8_t>> info;  // of a ModelLoaded
  bool unloaded = false;
  bool spent = false;  // its process answers nothing more

 private:
  // A sink that throws (nobody reads the answer any more) is the request's failure, as it is to an engine in this process.
  void give(Event event) {
    if (m_ended || m_fault) return;
    const bool last = ends_request(event);
    try {
      m_sink.on_event(std::move(event));
      m_ended = last;
    } catch (...) {
      m_fault = current_error();
      m_either.request_cancel();
    }
  }

  const RequestId m_id;
  const ConversationId m_conversation;
  const bool m_silent;
  EventSink& m_sink;
  InterruptSource m_either;  // the requester's, or that of a sink that has failed
  std::optional<ToldInterrupt> m_interrupt;
  bool m_begun = false;
  bool m_ended = false;
  std::optional<Error> m_fault;
};

ProcessEngine::ProcessEngine(EngineProcessSettings settings) : m_settings(std::move(settings)) {
  try {
    start();
  } catch (const Exception&) {  // the first request tries again and says so
  }
}

ProcessEngine::~ProcessEngine() = default;

void ProcessEngine::handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) {
  NobodyWaits nobody;
  handle_together(request, sink, interrupt, nobody);
}

void ProcessEngine::handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) {
  Deliveries deliveries;
  deliveries.emplace_back(request, sink);
  std::optional<Error> error;
  try {
    run(request, deliveries, std::holds_alternative<ForgetConversation>(request.body) ? InterruptToken() : interrupt, waiting);
  } catch (const ChannelBroken& broken) {
    error = ended(broken.cause());
  } catch (const Exception& problem) {
    error = problem.error();
    if (isEngineEnd(error->code)) forgetProcess();
  }
  if (std::ranges::any_of(deliveries, &Delivery::spent)) forgetProcess();
  if (error && isEngineEnd(error->code)) {
    if (std::ranges::all_of(deliveries, &Delivery::isOver)) m_untold = error;
    removeUnfinished(request.body);
  }
  for (Delivery& delivery : deliveries) {
    if (error) delivery.fail(*error);
    delivery.close();
  }
}

void ProcessEngine::run(const Request& request, Deliveries& deliveries, const InterruptToken& interrupt, Waiting& waiting) {
  Delivery& delivery = deliveries.front();
  const auto* load = std::get_if<LoadModel>(&request.body);
  if (const std::optional<Error> lost = loss(request.body)) return delivery.fail(*lost);
  if (std::holds_alternative<ForgetConversation>(request.body) && !m_loaded) return;
  if (!m_worker) start();
  if (!greeted(interrupt)) return delivery.interrupted();
  if (load == nullptr && m_model && !m_loaded) {
    reload(request.id, deliveries, interrupt);
    if (!m_loaded) return;
  }
  ask(request, deliveries, interrupt, waiting);
  if (load == nullptr) return;
  if (delivery.unloaded) m_model.reset();
  m_loaded = delivery.info.has_value() || (m_loaded && !delivery.unloaded);
  if (delivery.info) m_model = Model{*load, *std::move(delivery.info)};
}

void ProcessEngine::start() {
  try {
    m_worker = std::make_unique<WorkerProcess>(m_settings.program, m_settings.arguments);
  } catch (const Exception& problem) {
    throw Exception(ErrorCode::kEngineCrashed, m_settings.program, problem.error().reason);
  }
  m_latestHello = Clock::now() + m_settings.startPatience;
  m_greeted = m_loaded = false;
  m_toldPasswords = 0;
}

// How the process ended since the last request, if this one has to fail of it.
std::optional<Error> ProcessEngine::loss(const RequestBody& body) {
  try {
    while (m_worker) {
      const std::optional<ChannelMessage> message = m_worker->channel().receive(milliseconds(0));
      if (!message) break;
      takeHello(*message);
    }
  } catch (const ChannelBroken& broken) {
    m_untold = ended(broken.cause());
  }
  if (std::holds_alternative<ForgetConversation>(body)) return std::nullopt;
  std::optional<Error> lost = std::exchange(m_untold, std::nullopt);
  if (std::holds_alternative<LoadModel>(body)) lost.reset();
  return lost;
}

// False: interrupted before it was there.
bool ProcessEngine::greeted(const InterruptToken& interrupt) {
  while (!m_greeted) {
    if (interrupt.requested()) return false;
    const auto left = std::max(std::chrono::ceil<milliseconds>(m_latestHello - Clock::now()), milliseconds(0));
    if (const std::optional<ChannelMessage> message = m_worker->channel().receive(left, interrupt.descriptors())) {
      takeHello(*message);
    } else if (Clock::now() > m_latestHello) {
      throw Exception(ErrorCode::kEngineSilent, "", "the engine did not begin, and was ended");
    }
  }
  return true;
}

void ProcessEngine::takeHello(const ChannelMessage& message) {
  if (m_greeted || message.kind != static_cast<std::uint32_t>(EngineMessage::kHello)) {
    throw ChannelBroken(ChannelBroken::Cause::kGarbage);
  }
  const std::string expected = engineHello();
  if (std::string_view(reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()) != expected) {
    throw Exception(ErrorCode::kEngineCrashed, m_settings.program, "it is not of this program's version (" + expected + ")");
  }
  m_greeted = true;
}

// m_loaded: whether the model of before is there. Otherwise the request has ended or failed.
void ProcessEngine::reload(RequestId id, Deliveries& deliveries, const InterruptToken& interrupt) {
  Delivery& delivery = deliveries.front();
  NobodyWaits nobody;
  delivery.of = Delivery::Of::kReload;
  ask({id, m_model->load}, deliveries, interrupt, nobody);
  delivery.of = Delivery::Of::kRequest;
  if (!delivery.info) return delivery.fail({ErrorCode::kInternal, "", "the model was not loaded again"});
  m_loaded = *delivery.info == m_model->info;
  if (!m_loaded) {
    delivery.fail({ErrorCode::kModelFileChanged, m_model->load.folder, "it is another model than before the engine was started anew"});
  }
}

void ProcessEngine::send(const Request& request, Delivery& delivery, const InterruptToken& interrupt) {
  WorkerChannel& channel = m_worker->channel();
  if (m_settings.passwords != nullptr) {
    for (const FilePassword& known : m_settings.passwords->since(m_toldPasswords))
      channel.send(static_cast<std::uint32_t>(EngineMessage::kPassword), wire::encoded_fields(known));
  }
  channel.send(static_cast<std::uint32_t>(EngineMessage::kRequest), encoded(request));
  delivery.sent(
      interrupt,
      [&channel, id = request.id](Interrupt wanted) {
        channel.send(static_cast<std::uint32_t>(EngineMessage::kInterrupt), bytesOf({id, wanted}));
      },
      m_settings.interruptPatience);
}

// Until the process has returned all that it was sent.
void ProcessEngine::ask(const Request& request, Deliveries& deliveries, const InterruptToken& interrupt, Waiting& waiting) {
  const bool shares = std::holds_alternative<Turn>(request.body);
  const auto mayJoin = [&](const Request& head) {
    if (!shares || !may_join_others(head.body)) return false;
    const auto isBusy = [&](const Delivery& delivery) {
      return !delivery.isOver() && delivery.conversation() == conversation_of(head.body);
    };
    return std::ranges::count(deliveries, false, &Delivery::isOver) < kMostSent && std::ranges::none_of(deliveries, isBusy);
  };
  send(request, deliveries.front(), interrupt);
  deliveries.front().begins();
  while (!std::ranges::all_of(deliveries, &Delivery::returned)) {
    while (const std::optional<AskedRequest> next = waiting.next(mayJoin)) {
      const bool forgets = std::holds_alternative<ForgetConversation>(next->request.body);
      send(next->request, deliveries.emplace_back(next->request, *next->sink), forgets ? InterruptToken() : next->interrupt);
    }
    if (const std::optional<ChannelMessage> message = nextMessage(deliveries, waiting)) hear(*message, deliveries);
    // The first is asked for what it has found.
    const auto isDone = [&](const Delivery& delivery) { return delivery.returned && &delivery != &deliveries.front(); };
    deliveries.remove_if([&](Delivery& delivery) {
      if (!isDone(delivery) || delivery.spent) return false;
      delivery.close();
      return true;
    });
  }
}

// Nothing: something has come to those that wait.
std::optional<ChannelMessage> ProcessEngine::nextMessage(Deliveries& deliveries, Waiting& waiting) {
  std::vector<int> wakers = waiting.descriptors();
  ToldInterrupt::Clock::time_point latest = ToldInterrupt::Clock::time_point::max();
  for (Delivery& delivery : deliveries) {
    if (delivery.returned) continue;
    ToldInterrupt& interrupt = delivery.interrupt();
    interrupt.tellIfNew();
    if (delivery.isExpected() || deliveries.size() == 1) latest = std::min(latest, interrupt.latest());
    wakers.insert(wakers.end(), interrupt.wakers().begin(), interrupt.wakers().end());
  }
  auto message = m_worker->channel().receive(timeUntil(latest), wakers);
  if (ToldInterrupt::Clock::now() > latest)
    throw Exception(ErrorCode::kEngineSilent, "", "the engine did not stop when it was asked to, and was ended");
  return message;
}

void ProcessEngine::hear(const ChannelMessage& message, Deliveries& deliveries) {
  const auto named = [&](RequestId id) -> Delivery& {
    const auto found = std::ranges::find_if(deliveries, [&](const Delivery& each) { return each.id() == id && !each.returned; });
    if (found == deliveries.end()) throw ChannelBroken(ChannelBroken::Cause::kGarbage);
    return *found;
  };
  if (message.kind == static_cast<std::uint32_t>(EngineMessage::kReturned)) {
    const std::optional<RequestId> id = requestIdOf(message.bytes);
    if (!id) throw ChannelBroken(ChannelBroken::Cause::kGarbage);
    named(*id).returned = true;
    return;
  }
  if (message.kind != static_cast<std::uint32_t>(EngineMessage::kEvent)) throw ChannelBroken(ChannelBroken::Cause::kGarbage);
  Event event = decodedEvent(message);
  Delivery& delivery = named(event.id);
  const Clock::time_point given = Clock::now();
  delivery.pass(std::move(event));
  // The reader of an answer may take long.
  for (Delivery& each : deliveries) {
    if (!each.returned) each.interrupt().allow(Clock::now() - given);
  }
}

// The process is gone afterwards.
Error ProcessEngine::ended(ChannelBroken::Cause cause) {
  Error error;
  switch (cause) {
    case ChannelBroken::Cause::kClosed:
      error = m_greeted ? engineEnd(m_worker->end(kEndPatience)) : engineStartFault(m_worker->end(kEndPatience), m_settings.program);
      break;
    case ChannelBroken::Cause::kGarbage:
      error = {ErrorCode::kEngineCrashed, "", "the engine sent what is no message, and was ended"};
      break;
    case ChannelBroken::Cause::kStuck: error = {ErrorCode::kEngineSilent, "", "the engine took no message any more, and was ended"}; break;
  }
  forgetProcess();
  return error;
}

void ProcessEngine::forgetProcess() {
  if (m_worker) m_worker->end(milliseconds(0));
  m_worker.reset();
  m_greeted = m_loaded = false;
}

}  // namespace winnow::app
