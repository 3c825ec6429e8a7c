#include "app/engine/remote/connect_to_server.h"

#include <utility>

#include "app/engine/remote/key_ring.h"
#include "app/engine/remote/remote_engine.h"
#include "app/engine/remote/server_traits.h"
#include "app/engine/remote/winnow_server_engine.h"

namespace winnow::app {
namespace {

constexpr int kWinnowSilenceMs = 30'000;  // it says every few seconds that it is there

}  // namespace

std::unique_ptr<Engine> connectToServer(const ServerAddress& address, KeyRing* typed, MediaOpener* opener,
                                        const InterruptToken& interrupt) {
  const std::string key = keyFrom(address, typed, interrupt);
  auto connection = std::make_unique<ServerConnection>(address, key);
  ServerTraits traits = traitsOf(*connection, interrupt);
  if (traits.kind == ServerKind::kWinnow && isWinnowServer(*connection, interrupt)) {
    ServerPatience patience{.silenceMs = kWinnowSilenceMs};
    return std::make_unique<WinnowServerEngine>(std::make_unique<ServerConnection>(connection->address(), key, patience));
  }
  return std::make_unique<RemoteEngine>(std::move(connection), std::move(traits), opener);
}

}  // namespace winnow::app
