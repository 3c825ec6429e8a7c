#include "app/engine/host/engine_host.h"

#include <QPointer>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "app/engine/host/event_gatherer.h"
#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"
#include "engine/messages/interrupted.h"

namespace winnow::app {

namespace {

constexpr qint64 kDeliveryIntervalMs = 33;  // at most 30 updates a second
constexpr std::size_t kMostWaitingBytes = std::size_t{4} << 20;
constexpr std::chrono::milliseconds kInterruptedWait{10};

bool isSilent(const RequestBody& body) { return std::holds_alternative<ForgetConversation>(body); }

}  // namespace

// The engine, its thread, the requests that are not answered yet, and the events on their way.
class EngineHost::Worker final : public EventSink {
 public:
  Worker(EngineFactory factory, std::function<void()> wake) : m_factory(std::move(factory)), m_wake(std::move(wake)) {
    m_thread.post([this] { makeAhead(); });
  }

  // Waiting requests are not begun any more; the engine dies where it lived.
  ~Worker() override {
    {
      const std::lock_guard lock(m_mutex);
      m_shutdown.request_cancel();
    }
    m_room.notify_all();
    m_thread.post([this] { m_engine.reset(); });
  }

  void post(Request request) {
    const InterruptSource interrupt(m_shutdown.token());
    {
      const std::lock_guard lock(m_mutex);
      m_unanswered.emplace(request.id, interrupt);
    }
    m_thread.post([this, request = std::move(request), token = interrupt.token()] {
      serve(request, token);
      const std::lock_guard lock(m_mutex);
      m_unanswered.erase(request.id);
    });
  }

  void interrupt(RequestId id, Interrupt kind) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_unanswered.find(id);
    if (found == m_unanswered.end()) return;
    kind == Interrupt::kStop ? found->second.request_stop() : found->second.request_cancel();
    m_room.notify_all();
  }

  std::vector<Event> take() {
    const std::lock_guard lock(m_mutex);
    m_room.notify_all();
    return m_events.take();
  }

  bool urgent() const {
    const std::lock_guard lock(m_mutex);
    return m_events.urgent();
  }

  // Engine thread.
  void on_event(Event event) override {
    if (m_ended || event.id != m_currentId) return;  // an engine that goes on after its outcome is not listened to
    m_ended = ends_request(event);
    waitForRoom();
    deliver(std::move(event));
  }

 private:
  // An engine that is faster than its listener is held back, so that the window does not fill the memory. One that was interrupted goes on
  // to its end, slowly.
  void waitForRoom() {
    std::unique_lock lock(m_mutex);
    const auto hasRoom = [this] { return m_events.bytes() < kMostWaitingBytes; };
    m_room.wait(lock, [&] { return hasRoom() || m_currentToken.requested(); });
    if (!m_shutdown.token().requested()) m_room.wait_for(lock, kInterruptedWait, hasRoom);
  }

  void makeAhead() {
    try {
      m_engine = m_factory();
    } catch (...) {  // the first request tries again and says so
    }
  }

  void deliver(Event event) {
    bool wake = false;
    {
      const std::lock_guard lock(m_mutex);
      const bool wasUrgent = m_events.urgent();
      const bool wasEmpty = m_events.empty();
      m_events.push(std::move(event));
      wake = wasEmpty || m_events.urgent() != wasUrgent;
    }
    if (wake) m_wake();
  }

  void serve(const Request& request, const InterruptToken& token) {
    if (m_shutdown.token().requested()) return;  // nobody listens any more
    m_currentId = request.id;
    m_currentToken = token;
    m_ended = false;
    const bool silent = isSilent(request.body);
    if (!silent && token.requested()) {
      deliver({m_currentId, interrupted_and_restored()});  // it never began
      return;
    }
    try {
      if (!m_engine) {
        m_engine = m_factory();
        require(m_engine != nullptr, "the engine factory made no engine");
      }
      m_engine->handle(request, *this, token);
    } catch (...) {
      if (!m_ended && !silent) fail(current_error("engine"));
      return;
    }
    if (!m_ended && !silent) fail({ErrorCode::kInternal, "engine", "the request ended without an outcome"});
  }

  void fail(Error error) {
    m_ended = true;
    deliver({m_currentId, Failed{std::move(error)}});
  }

  const EngineFactory m_factory;
  const std::function<void()> m_wake;
  InterruptSource m_shutdown;

  // Engine thread only.
  std::unique_ptr<Engine> m_engine;
  RequestId m_currentId = 0;
  InterruptToken m_currentToken;
  bool m_ended = false;

  mutable std::mutex m_mutex;  // guards the members below
  std::condition_variable m_room;
  std::map<RequestId, InterruptSource> m_unanswered;
  EventGatherer m_events;

  WorkerThread m_thread{"engine"};  // last: joined first
};

EngineHost::EngineHost(EngineFactory factory, QObject* parent) : QObject(parent), m_mailbox(std::make_unique<Mailbox>()) {
  m_sinceDelivery.start();
  m_paceTimer.setSingleShot(true);
  m_paceTimer.setTimerType(Qt::PreciseTimer);
  connect(&m_paceTimer, &QTimer::timeout, this, &EngineHost::deliver);
  m_worker = std::make_unique<Worker>(std::move(factory), [this] { m_mailbox->post([this] { schedule(); }); });
}

EngineHost::~EngineHost() = default;

RequestId EngineHost::post(RequestBody body, QObject* receiver, Listener listener) {
  m_askers[m_lastId + 1] = {receiver, std::move(listener)};
  return post(std::move(body));
}

RequestId EngineHost::post(RequestBody body) {
  const RequestId id = ++m_lastId;
  const bool silent = isSilent(body);
  m_worker->post({id, std::move(body)});
  if (!silent && m_unfinished++ == 0) Q_EMIT busyChanged(true);
  return id;
}

void EngineHost::stop(RequestId id) { m_worker->interrupt(id, Interrupt::kStop); }
void EngineHost::cancel(RequestId id) { m_worker->interrupt(id, Interrupt::kCancel); }

void EngineHost::schedule() {
  const qint64 elapsedMs = m_sinceDelivery.elapsed();
  if (m_worker->urgent() || elapsedMs >= kDeliveryIntervalMs) {
    deliver();
  } else if (!m_paceTimer.isActive()) {
    m_paceTimer.start(static_cast<int>(kDeliveryIntervalMs - elapsedMs));
  }
}

void EngineHost::deliver() {
  m_paceTimer.stop();
  m_sinceDelivery.restart();
  for (Event& event : m_worker->take()) m_ready.push_back(std::move(event));
  // One by one from a member: a receiver may run a nested event loop (then this function is entered again) or destroy the host.
  const QPointer<EngineHost> alive(this);
  while (alive && !m_ready.empty()) {
    const Event event = std::move(m_ready.front());
    m_ready.pop_front();
    const bool ends = ends_request(event);
    if (ends) --m_unfinished;
    if (const auto* lost = std::get_if<CacheSetAside>(&event.body)) Q_EMIT cacheSetAside(lost->why, lost->conversation);
    if (!alive) return;
    if (const auto found = m_askers.find(event.id); found != m_askers.end()) {
      const Asker asker = found->second;
      if (ends) m_askers.erase(found);
      if (asker.receiver) asker.listener(event);
    }
    if (alive && ends && m_unfinished == 0) Q_EMIT busyChanged(false);
  }
}

}  // namespace winnow::app
