// The keys for servers that are typed: held until the program ends, and kept by the desktop's secret service where one runs.
//
// Used by the connect dialog, which takes them, and by server_key.h, which needs them. A key belongs to one server, by scheme, host and
// port, so that no address can ask for another's. It is written into no file and no log. Errors: Exception(kServerKeyMissing) with the
// server as subject; Interrupted. Threads: find() any, and it waits; the rest is of the thread that made it.
#pragma once

#include <QObject>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "app/engine/remote/secret_service.h"
#include "app/engine/remote/server_address.h"
#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"
#include "engine/base/error.h"

namespace winnow::app {

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

}  // namespace winnow::app
