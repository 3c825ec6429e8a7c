#include "app/remote/connect_to_server.h"

#include <utility>

#include "app/remote/remote_engine.h"
#include "app/remote/server_key.h"
#include "app/remote/server_traits.h"

namespace winnow::app {

std::unique_ptr<Engine> connectToServer(const ServerAddress& address, MediaOpener* opener, const InterruptToken& interrupt) {
  auto connection = std::make_unique<ServerConnection>(address, keyFrom(address.key));
  ServerTraits traits = traitsOf(*connection, interrupt);
  return std::make_unique<RemoteEngine>(std::move(connection), std::move(traits), opener);
}

}  // namespace winnow::app
