#include "app/engine/remote/key_ring.h"

#include <chrono>
#include <future>
#include <optional>
#include <utility>

namespace winnow::app {
namespace {

constexpr std::chrono::milliseconds kLookEvery{20};

}  // namespace

KeyRing::KeyRing(std::unique_ptr<SecretService> desktop, QObject* parent) : QObject(parent), m_desktop(std::move(desktop)) {}

KeyRing::~KeyRing() {
  m_closing.request_cancel();
  m_thread.reset();
}

WorkerThread& KeyRing::thread() {
  const std::lock_guard lock(m_mutex);
  if (!m_thread) m_thread = std::make_unique<WorkerThread>("keys");
  return *m_thread;
}

std::string KeyRing::held(const std::string& server) {
  const std::lock_guard lock(m_mutex);
  const auto found = m_held.find(server);
  return found == m_held.end() ? std::string() : found->second;
}

void KeyRing::hold(const ServerAddress& address, const std::string& key) {
  const std::lock_guard lock(m_mutex);
  m_held[address.origin()] = key;
}

void KeyRing::keep(const ServerAddress& address, const std::string& key) {
  hold(address, key);
  thread().post([this, server = address.origin(), key, closing = m_closing.token()] {
    std::optional<Error> failed;
    try {
      m_desktop->keep(server, key, closing);
    } catch (const Interrupted&) {
      return;
    } catch (...) {
      failed = current_error(server);
    }
    m_mailbox.post([this, failed] {
      note(failed ? Desktop::kKeepsNothing : Desktop::kKeeps);
      failed ? Q_EMIT notKept(*failed) : Q_EMIT kept();
    });
  });
}

// A name that nobody has: nobody is asked to unlock anything.
void KeyRing::look() {
  if (m_desktopKeeps == Desktop::kKeeps) return;
  thread().post([this, closing = m_closing.token()] {
    Desktop found = Desktop::kKeeps;
    try {
      m_desktop->find("winnow", closing);
    } catch (const Interrupted&) {
      return;
    } catch (...) {
      found = Desktop::kKeepsNothing;
    }
    m_mailbox.post([this, found] { note(found); });
  });
}

void KeyRing::note(Desktop desktop) {
  if (std::exchange(m_desktopKeeps, desktop) != desktop) Q_EMIT desktopChanged();
}

std::string KeyRing::find(const ServerAddress& address, const InterruptToken& interrupt) {
  const std::string server = address.origin();
  if (std::string key = held(server); !key.empty()) return key;
  InterruptSource asked(m_closing.token());
  const auto found = std::make_shared<std::promise<std::string>>();
  std::future<std::string> answer = found->get_future();
  thread().post([this, server, found, token = asked.token()] {
    try {
      found->set_value(m_desktop->find(server, token));
    } catch (...) {
      found->set_exception(std::current_exception());
    }
  });
  while (answer.wait_for(kLookEvery) != std::future_status::ready) {
    if (!interrupt.requested()) continue;
    asked.request_cancel();
    interrupt.throw_if_requested();
  }
  std::string key = answer.get();
  if (key.empty()) throw Exception(ErrorCode::kServerKeyMissing, server, "the desktop keeps none for it");
  hold(address, key);
  return key;
}

}  // namespace winnow::app
