#include "app/engine/process/process_engine.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/engine/process/engine_protocol.h"
#include "app/ground/worker/answer_wait.h"
#include "app/ground/worker/engine_end.h"
#include "engine/base/replaced_file.h"
#include "engine/messages/interrupted.h"
#include "engine/messages/wire.h"

namespace winnow::app {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kEndPatience{5'000};  // between the end of the channel and that of the process

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
      : m_id(request.id), m_silent(std::holds_alternative<ForgetConversation>(request.body)), m_sink(sink) {}

  void pass(Event event) {
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
  bool hasFault() const { return m_fault.has_value(); }

  Of of = Of::kRequest;
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
    }
  }

  const RequestId m_id;
  const bool m_silent;
  EventSink& m_sink;
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
  Delivery delivery(request, sink);
  std::optional<Error> error;
  try {
    run(request, delivery, std::holds_alternative<ForgetConversation>(request.body) ? InterruptToken() : interrupt);
  } catch (const ChannelBroken& broken) {
    error = ended(broken.cause());
  } catch (const Exception& problem) {
    error = problem.error();
    if (isEngineEnd(error->code)) forgetProcess();
  }
  if (delivery.spent) forgetProcess();
  if (error && isEngineEnd(error->code)) {
    if (delivery.isOver()) m_untold = error;
    removeUnfinished(request.body);
  }
  if (error) delivery.fail(*std::move(error));
  delivery.close();
}

void ProcessEngine::run(const Request& request, Delivery& delivery, const InterruptToken& interrupt) {
  const auto* load = std::get_if<LoadModel>(&request.body);
  if (const std::optional<Error> lost = loss(request.body)) return delivery.fail(*lost);
  if (std::holds_alternative<ForgetConversation>(request.body) && !m_loaded) return;
  if (!m_worker) start();
  if (!greeted(interrupt)) return delivery.interrupted();
  if (load == nullptr && m_model && !m_loaded) {
    reload(request.id, delivery, interrupt);
    if (!m_loaded) return;
  }
  ask(request, delivery, interrupt);
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
void ProcessEngine::reload(RequestId id, Delivery& delivery, const InterruptToken& interrupt) {
  delivery.of = Delivery::Of::kReload;
  ask({id, m_model->load}, delivery, interrupt);
  delivery.of = Delivery::Of::kRequest;
  if (!delivery.info) return delivery.fail({ErrorCode::kInternal, "", "the model was not loaded again"});
  m_loaded = *delivery.info == m_model->info;
  if (!m_loaded) {
    delivery.fail({ErrorCode::kModelFileChanged, m_model->load.folder, "it is another model than before the engine was started anew"});
  }
}

void ProcessEngine::ask(const Request& request, Delivery& delivery, const InterruptToken& interrupt) {
  WorkerChannel& channel = m_worker->channel();
  channel.send(static_cast<std::uint32_t>(EngineMessage::kRequest), encoded(request));
  InterruptSource either(interrupt);  // the requester's, or that of a sink that has failed
  AnswerWait wait(
      channel, either.token(),
      [&](Interrupt wanted) {
        channel.send(static_cast<std::uint32_t>(EngineMessage::kInterrupt), bytesOf({request.id, wanted}));
      },
      m_settings.interruptPatience);
  while (true) {
    if (delivery.hasFault()) either.request_cancel();
    const std::optional<ChannelMessage> message = wait.next();
    if (!message) throw Exception(ErrorCode::kEngineSilent, "", "the engine did not stop when it was asked to, and was ended");
    if (message->kind == static_cast<std::uint32_t>(EngineMessage::kReturned)) {
      if (requestIdOf(message->bytes) != request.id) throw ChannelBroken(ChannelBroken::Cause::kGarbage);
      return;
    }
    if (message->kind != static_cast<std::uint32_t>(EngineMessage::kEvent)) throw ChannelBroken(ChannelBroken::Cause::kGarbage);
    Event event = decodedEvent(*message);
    if (event.id != request.id) throw ChannelBroken(ChannelBroken::Cause::kGarbage);
    const Clock::time_point given = Clock::now();
    delivery.pass(std::move(event));
    if (wait.told() != Interrupt::kNone) wait.allow(Clock::now() - given);  // whoever reads the answer may take long
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
    case ChannelBroken::Cause::kStuck:
      error = {ErrorCode::kEngineSilent, "", "the engine took no message any more, and was ended"};
      break;
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
