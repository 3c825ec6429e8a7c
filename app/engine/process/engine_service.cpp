#include "app/engine/process/engine_service.h"

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "app/engine/process/engine_protocol.h"
#include "app/ground/worker/engine_end.h"
#include "app/ground/worker/worker_channel.h"
#include "app/ground/worker/worker_process.h"
#include "engine/messages/interrupted.h"
#include "engine/messages/wire.h"
#include "engine/messages/wire_value.h"

namespace winnow::app {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kForever{-1};
constexpr int kEndedStatus = 0;
constexpr int kBadRequestStatus = 4;

// Without destructors: whatever runs. What the engine has started (winnow-media) must not outlive it.
[[noreturn]] void leave(int status) {
  killWorkers();
  ::_exit(status);
}

class EngineService final : public EventSink, public Waiting {
 public:
  EngineService(OpenFile socket, Passwords& passwords) : m_channel(std::move(socket), kForever), m_passwords(passwords) {}

  // Takes what the program sends, on a thread of its own.
  [[noreturn]] void listen() {
    try {
      while (true) {
        const std::optional<ChannelMessage> message = m_channel.receive(kForever);
        if (message) take(*message);
      }
    } catch (const ChannelBroken&) {
      leave(kEndedStatus);
    } catch (const std::bad_alloc&) {
      leave(kNoMemoryStatus);
    } catch (...) {
      leave(kBadRequestStatus);
    }
  }

  [[noreturn]] void serve(Engine& engine) {
    const std::string hello = engineHello();
    send(EngineMessage::kHello, {reinterpret_cast<const std::uint8_t*>(hello.data()), hello.size()});
    while (true) {
      waitForOne();
      const AskedRequest first = taken();
      engine.handle_together(first.request, *this, first.interrupt, *this);
      returned(first.request.id);
    }
  }

  void on_event(Event event) override {
    send(EngineMessage::kEvent, encoded(event));
    if (ends_request(event) && m_joined.erase(event.id) > 0) returned(event.id);
  }

  // The engine's thread alone takes from the queue, so that its head stays where it is meanwhile.
  std::optional<AskedRequest> next(const MayJoin& mayJoin) override {
    endInterrupted();
    const Request* const head = this->head();
    if (head == nullptr || !mayJoin(*head)) return std::nullopt;
    AskedRequest asked = taken();
    if (std::holds_alternative<ForgetConversation>(asked.request.body))
      returned(asked.request.id);  // it has no event, and is done before anything that comes
    else
      m_joined.insert(asked.request.id);
    return asked;
  }

 private:
  void take(const ChannelMessage& message) {
    if (static_cast<EngineMessage>(message.kind) == EngineMessage::kRequest) {
      Request request = decoded_request(message.bytes);
      const std::lock_guard lock(m_mutex);
      m_interrupts[request.id] = {};
      m_waiting.push_back(std::move(request));
      m_came.notify_one();
      return;
    }
    if (static_cast<EngineMessage>(message.kind) == EngineMessage::kPassword)
      return m_passwords.set(wire::decoded_fields<FilePassword>(message.bytes));
    const std::optional<InterruptMessage> interrupt = interruptOf(message.bytes);
    if (static_cast<EngineMessage>(message.kind) != EngineMessage::kInterrupt || !interrupt) leave(kBadRequestStatus);
    const std::lock_guard lock(m_mutex);
    const auto found = m_interrupts.find(interrupt->id);
    if (found == m_interrupts.end()) return;  // it has ended meanwhile
    interrupt->kind == Interrupt::kStop ? found->second.request_stop() : found->second.request_cancel();
  }

  void waitForOne() {
    std::unique_lock lock(m_mutex);
    m_came.wait(lock, [&] { return !m_waiting.empty(); });
  }

  const Request* head() {
    const std::lock_guard lock(m_mutex);
    return m_waiting.empty() ? nullptr : &m_waiting.front();
  }

  // Those that were interrupted before they began.
  void endInterrupted() {
    std::vector<RequestId> over;
    {
      const std::lock_guard lock(m_mutex);
      std::erase_if(m_waiting, [&](const Request& request) {
        const bool is = m_interrupts[request.id].token().requested();
        if (is) over.push_back(request.id);
        return is;
      });
    }
    for (const RequestId id : over) {
      send(EngineMessage::kEvent, encoded(Event{id, interrupted_and_restored()}));
      returned(id);
    }
  }

  AskedRequest taken() {
    const std::lock_guard lock(m_mutex);
    Request request = std::move(m_waiting.front());
    m_waiting.pop_front();
    InterruptToken token = m_interrupts[request.id].token();
    return {std::move(request), this, std::move(token)};
  }

  void returned(RequestId id) {
    {
      const std::lock_guard lock(m_mutex);
      m_interrupts.erase(id);
    }
    send(EngineMessage::kReturned, bytesOf(id));
  }

  void send(EngineMessage kind, std::span<const std::uint8_t> bytes) {
    try {
      m_channel.send(static_cast<std::uint32_t>(kind), bytes);
    } catch (const ChannelBroken&) {
      leave(kEndedStatus);
    }
  }

  WorkerChannel m_channel;
  Passwords& m_passwords;
  std::set<RequestId> m_joined;  // those that run beside the first; of the engine's thread
  std::mutex m_mutex;            // guards the members below
  std::condition_variable m_came;
  std::deque<Request> m_waiting;
  std::map<RequestId, InterruptSource> m_interrupts;  // of requests that run or wait
};

}  // namespace

void serveEngine(OpenFile channel, const std::function<std::unique_ptr<Engine>()>& make, Passwords& passwords) {
  EngineService service(std::move(channel), passwords);
  std::thread listener([&service] { service.listen(); });
  listener.detach();  // ends with the process only
  const std::unique_ptr<Engine> engine = make();
  service.serve(*engine);
}

}  // namespace winnow::app
