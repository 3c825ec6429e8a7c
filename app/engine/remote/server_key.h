// The key for a server, from where it is kept. It is read when a connection is made, and is neither stored nor logged.
//
// Errors: Exception(kServerKeyMissing), the subject is the place; Interrupted. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "app/engine/remote/server_address.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class KeyRing;

// typed: keys that were typed; null: there are none. Empty: none is needed.
std::string keyFrom(const ServerAddress& address, KeyRing* typed, const InterruptToken& interrupt);

// True if it can be one: printable, without spaces, and not endless.
bool isServerKey(std::string_view text);

}  // namespace winnow::app
