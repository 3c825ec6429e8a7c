// The key for a server, from where it is kept. It is read when a connection is made, and is neither stored nor logged.
//
// Errors: Exception(kServerKeyMissing), the subject is the place. Threads: any.
#pragma once

#include <string>

#include "app/remote/server_address.h"

namespace winnow::app {

std::string keyFrom(const KeySource& source);  // empty: none is needed

}  // namespace winnow::app
