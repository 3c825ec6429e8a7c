#include "app/engine/remote/server_models.h"

#include "app/engine/remote/key_ring.h"
#include "app/engine/remote/server_connection.h"
#include "app/engine/remote/server_traits.h"

namespace winnow::app {
namespace {

ListedModels listOf(const ServerAddress& address, KeyRing* typed, const InterruptToken& interrupt) {
  try {
    ServerConnection connection(address, keyFrom(address, typed, interrupt));
    return {modelsOf(connection, interrupt)};
  } catch (...) {
    return {{}, current_error(address.host())};
  }
}

}  // namespace

ServerModels::ServerModels(KeyRing* typed, QObject* parent)
    : QObject(parent), m_typed(typed), m_mailbox(std::make_unique<Mailbox>()), m_thread(std::make_unique<WorkerThread>("servers")) {}

ServerModels::~ServerModels() { m_interrupt.request_cancel(); }

void ServerModels::ask(const ServerAddress& address) {
  m_interrupt.request_cancel();
  m_interrupt = InterruptSource();
  m_thread->post([this, address, token = m_interrupt.token()] {
    const ListedModels models = listOf(address, m_typed, token);
    m_mailbox->post([this, models, token] {
      if (!token.requested()) Q_EMIT listed(models);
    });
  });
}

}  // namespace winnow::app
