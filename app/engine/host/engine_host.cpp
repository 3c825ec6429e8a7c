#include "app/engine/host/engine_host.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "app/engine/host/event_gatherer.h"
#include "app/ground/process/open_file.h"
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
class EngineHost::Worker final : public EventSink, public Waiting {
 public:
  Worker(EngineFactory factory, std::function<void()> wake)
      : m_factory(std::move(factory)), m_wake(std::move(wake)), m_came(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
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
      m_waiting.push_back({std::move(request), this, interrupt.token()});
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(m_came.descriptor(), &one, sizeof one);
    m_thread.post([this] {
      if (head() != nullptr) serve(taken());  // else it was taken in while another one ran
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

  // Engine thread, as are those below.
  void on_event(Event event) override {
    const auto running = m_running.find(event.id);
    if (running == m_running.end()) return;  // an engine that goes on after its outcome is not listened to
    waitForRoom(running->second);
    if (ends_request(event)) m_running.erase(running);
    deliver(std::move(event));
  }

  std::optional<AskedRequest> next(const MayJoin& mayJoin) override {
    std::uint64_t came = 0;
    [[maybe_unused]] const auto read = ::read(m_came.descriptor(), &came, sizeof came);
    while (const AskedRequest* const head = this->head()) {
      const bool interrupted = head->interrupt.requested();
      if (!interrupted && !mayJoin(head->request)) return std::nullopt;
      AskedRequest asked = taken();
      if (begins(asked)) return asked;
    }
    return std::nullopt;
  }

  std::vector<int> descriptors() const override { return {m_came.descriptor()}; }

 private:
  // An engine that is faster than its listener is held back, so that the window does not fill the memory. One that was interrupted goes on
  // to its end, slowly.
  void waitForRoom(const InterruptToken& interrupt) {
    std::unique_lock lock(m_mutex);
    const auto hasRoom = [this] { return m_events.bytes() < kMostWaitingBytes; };
    m_room.wait(lock, [&] { return hasRoom() || interrupt.requested(); });
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
      if (ends_request(event)) m_unanswered.erase(event.id);
      const bool wasUrgent = m_events.urgent();
      const bool wasEmpty = m_events.empty();
      m_events.push(std::move(event));
      wake = wasEmpty || m_events.urgent() != wasUrgent;
    }
    if (wake) m_wake();
  }

  // This thread alone takes from the queue, so that its head stays where it is meanwhile.
  const AskedRequest* head() {
    const std::lock_guard lock(m_mutex);
    return m_waiting.empty() ? nullptr : &m_waiting.front();
  }

  AskedRequest taken() {
    const std::lock_guard lock(m_mutex);
    AskedRequest asked = std::move(m_waiting.front());
    m_waiting.pop_front();
    if (isSilent(asked.request.body)) m_unanswered.erase(asked.request.id);
    return asked;
  }

  // False: it was interrupted before.
  bool begins(const AskedRequest& asked) {
    if (m_shutdown.token().requested()) return false;  // nobody listens any more
    if (isSilent(asked.request.body)) return true;
    if (asked.interrupt.requested()) {
      deliver({asked.request.id, interrupted_and_restored()});
      return false;
    }
    m_running.emplace(asked.request.id, asked.interrupt);
    return true;
  }

  void serve(const AskedRequest& asked) {
    if (!begins(asked)) return;
    try {
      if (!m_engine) {
        m_engine = m_factory();
        require(m_engine != nullptr, "the engine factory made no engine");
      }
      m_engine->handle_together(asked.request, *this, asked.interrupt, *this);
    } catch (...) {
      return failAll(current_error("engine"));
    }
    failAll({ErrorCode::kInternal, "engine", "the request ended without an outcome"});
  }

  // Those that have no outcome when the engine comes back.
  void failAll(const Error& error) {
    for (const auto& [id, interrupt] : std::exchange(m_running, {})) deliver({id, Failed{error}});
  }

  const EngineFactory m_factory;
  const std::function<void()> m_wake;
  const OpenFile m_came;  // readable while something has come since next()
  InterruptSource m_shutdown;

  // Engine thread only.
  std::unique_ptr<Engine> m_engine;
  std::map<RequestId, InterruptToken> m_running;

  mutable std::mutex m_mutex;  // guards the members below
  std::condition_variable m_room;
  std::map<RequestId, InterruptSource> m_unanswered;
  std::deque<AskedRequest> m_waiting;
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
