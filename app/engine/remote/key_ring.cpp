#include "app/engine/remote/key_ring.h"

#include <qt6keychain/keychain.h>
#include <QEventLoop>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <optional>
#include <utility>

#include "app/ground/threads/interrupt_notifier.h"
#include "engine/base/file_bytes.h"

namespace winnow::app {
namespace {

constexpr std::chrono::milliseconds kLookEvery{20};

constexpr std::size_t kMostKeyBytes = 4096;

[[noreturn]] void missing(const KeySource& source, const std::string& why) {
  throw Exception(ErrorCode::kServerKeyMissing, source.name, why);
}

std::string fromEnvironment(const KeySource& source) {
  const char* value = std::getenv(source.name.c_str());
  if (value == nullptr) missing(source, "there is no such environment variable");
  return value;
}

std::string fromFile(const KeySource& source) {
  try {
    return read_file_bytes(source.name, kMostKeyBytes);
  } catch (const Exception& problem) {
    missing(source, problem.error().reason);
  }
}

std::string fromDesktop(const ServerAddress& address, KeyRing* typed, const InterruptToken& interrupt) {
  if (typed == nullptr) throw Exception(ErrorCode::kServerKeyMissing, address.origin(), "keys of the desktop are not read here");
  return typed->find(address, interrupt);
}

QString serviceName() { return QStringLiteral("winnow"); }

struct Told {
  QKeychain::Error error = QKeychain::NoError;
  QString words{};
  QString secret{};  // that was read
};

// The outcome of a job, which may take a person's password. It deletes itself when it has finished, be it after an interrupt.
Told outcomeOf(QKeychain::Job* job, const std::string& name, const InterruptToken& interrupt) {
  job->setInsecureFallback(false);
  job->setKey(QString::fromStdString(name));
  QEventLoop loop;
  const InterruptNotifier onInterrupt(interrupt, Interrupt::kNone, [&] { loop.quit(); });
  std::optional<Told> told;
  QObject::connect(job, &QKeychain::Job::finished, &loop, [&](const QKeychain::Job* done) {
    const auto* read = qobject_cast<const QKeychain::ReadPasswordJob*>(done);
    told = Told{done->error(), done->errorString(), read != nullptr ? read->textData() : QString()};
    loop.quit();
  });
  job->start();
  loop.exec();
  if (!told) throw Interrupted(interrupt.state());
  return *told;
}

void requireDone(const Told& told, const std::string& name) {
  if (told.error == QKeychain::NoError) return;
  const std::string words = told.words.toStdString();
  throw Exception(ErrorCode::kServerKeyMissing, name, words.empty() ? "no secret service of the desktop answers" : words);
}

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

bool isServerKey(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](unsigned char each) { return each > 0x20 && each < 0x7f; });
  return plain && !text.empty() && text.size() <= kMostKeyBytes;
}

std::string keyFrom(const ServerAddress& address, KeyRing* typed, const InterruptToken& interrupt) {
  const KeySource& source = address.key;
  if (source.kind == KeySource::Kind::kNone) return {};
  if (source.kind == KeySource::Kind::kDesktop) return fromDesktop(address, typed, interrupt);
  std::string key = source.kind == KeySource::Kind::kFile ? fromFile(source) : fromEnvironment(source);
  key.erase(std::min(key.find_first_of("\r\n"), key.size()));  // an editor ends a line
  if (!isServerKey(key)) missing(source, "its first line must be the key, without spaces");
  return key;
}

std::string DesktopSecrets::find(const std::string& name, const InterruptToken& interrupt) {
  const Told told = outcomeOf(new QKeychain::ReadPasswordJob(serviceName()), name, interrupt);
  if (told.error == QKeychain::EntryNotFound) return {};
  requireDone(told, name);
  return told.secret.toStdString();
}

void DesktopSecrets::keep(const std::string& name, const std::string& secret, const InterruptToken& interrupt) {
  auto* job = new QKeychain::WritePasswordJob(serviceName());
  job->setTextData(QString::fromStdString(secret));
  requireDone(outcomeOf(job, name, interrupt), name);
}

}  // namespace winnow::app
