// The models of a server, listed while a window stays alive: what its connect dialog asks.
//
// Threads: belongs to the one that made it; asks on a thread of its own. Errors come as a value.
#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/engine/remote/server_address.h"
#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"
#include "engine/base/error.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class KeyRing;

struct ListedModels {
  std::vector<std::string> names;
  std::optional<Error> error{};
};

class ServerModels : public QObject {
  Q_OBJECT
 public:
  // typed: keys that were typed; null: none.
  explicit ServerModels(KeyRing* typed, QObject* parent = nullptr);
  ~ServerModels() override;

  void ask(const ServerAddress& address);  // in place of what was asked before

 Q_SIGNALS:
  void listed(const winnow::app::ListedModels& models);

 private:
  KeyRing* const m_typed;
  InterruptSource m_interrupt;  // of the last question
  std::unique_ptr<Mailbox> m_mailbox;
  std::unique_ptr<WorkerThread> m_thread;  // last: joined first
};

}  // namespace winnow::app
