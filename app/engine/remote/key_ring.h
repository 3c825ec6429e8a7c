// The keys for servers: typed ones are held until the program ends, and kept by the desktop's secret service where one runs.
//
// Used by the connect dialog, which takes them, and by what connects to a server. A key belongs to one server, by scheme, host and port, so
// that no address can ask for another's. It is written into no file and no log. Errors: Exception(kServerKeyMissing) with the server as
// subject; Interrupted. Threads: find() any, and it waits; the rest is of the thread that made it.
#pragma once

#include <QObject>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "app/engine/remote/server_address.h"
#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"
#include "engine/base/error.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

// The keeper of secrets for programs on this machine, encrypted, as long as its user wants: the desktop's secret service.
//
// Both calls wait, also for the person whom the desktop asks to unlock it. Errors: Exception(kServerKeyMissing) with the name as subject:
// no service runs, or it refuses. Interrupted.
class SecretService {
 public:
  virtual ~SecretService() = default;
  virtual std::string find(const std::string& name, const InterruptToken& interrupt) = 0;  // empty: it has none of this name
  virtual void keep(const std::string& name, const std::string& secret, const InterruptToken& interrupt) = 0;
};

class KeyRing : public QObject {
  Q_OBJECT
 public:
  explicit KeyRing(std::unique_ptr<SecretService> desktop, QObject* parent = nullptr);
  ~KeyRing() override;  // what the desktop has not kept by then is not kept

  // Until the program ends.
  void hold(const ServerAddress& address, const std::string& key);
  // And by the desktop: kept() or notKept() follows.
  void keep(const ServerAddress& address, const std::string& key);
  std::string find(const ServerAddress& address, const InterruptToken& interrupt);

  // Says if the desktop keeps keys at all, as far as it is known: from what it did with the last one, or by look(), which asks it.
  enum class Desktop : int { kUnknown = 1, kKeeps = 2, kKeepsNothing = 3 };
  Desktop desktop() const { return m_desktopKeeps; }
  void look();

 Q_SIGNALS:
  void desktopChanged();
  void kept();
  void notKept(const winnow::Error& why);

 private:
  WorkerThread& thread();
  void note(Desktop desktop);
  std::string held(const std::string& server);

  const std::unique_ptr<SecretService> m_desktop;  // asked on m_thread alone
  InterruptSource m_closing;
  std::mutex m_mutex;  // guards the two below
  std::map<std::string, std::string> m_held;
  std::unique_ptr<WorkerThread> m_thread;  // null: not needed yet
  Desktop m_desktopKeeps = Desktop::kUnknown;
  Mailbox m_mailbox;
};

// The key for a server, from where it is kept. It is read when a connection is made, and is neither stored nor logged.
//
// Errors: Exception(kServerKeyMissing), the subject is the place; Interrupted.

// typed: keys that were typed; null: there are none. Empty: none is needed.
std::string keyFrom(const ServerAddress& address, KeyRing* typed, const InterruptToken& interrupt);

// True if it can be one: printable, without spaces, and not endless.
bool isServerKey(std::string_view text);

// The desktop's secret service (GNOME Keyring, KWallet), by QtKeychain. Never its fallback, which writes plain text.
class DesktopSecrets final : public SecretService {
 public:
  std::string find(const std::string& name, const InterruptToken& interrupt) override;
  void keep(const std::string& name, const std::string& secret, const InterruptToken& interrupt) override;
};

}  // namespace winnow::app
