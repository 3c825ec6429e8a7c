// The one place where a server's address becomes an engine.
//
// Asks the server what it is: another machine's Winnow or any other (server_traits.h). Used by SwitchingEngine. Errors: Exception (faults
// of servers, kServerKeyMissing, kInvalidArgument), Interrupted. Threads: the engine is confined to the calling one.
#pragma once

#include <memory>

#include "app/engine/remote/server_address.h"
#include "engine/api/engine.h"

namespace winnow::app {

class KeyRing;

// typed: keys that were typed; null: none. opener: what media are read with for it; outlives the engine.
std::unique_ptr<Engine> connectToServer(const ServerAddress& address, KeyRing* typed, MediaOpener* opener, const InterruptToken& interrupt);

}  // namespace winnow::app
