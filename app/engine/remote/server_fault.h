// The meaning of a server's refusal: its status and words as one of our errors.
//
// Pure; threads: any. The subject is the server's host, or the model's name for kServerModelMissing.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "app/engine/remote/server_address.h"
#include "app/engine/remote/server_connection.h"
#include "engine/base/error.h"

namespace winnow::app {

// The error for a status that is not 200.
Error faultOf(const ServerAddress& address, const ServerReply& reply);
// The error of an error object inside a stream, or in an answer whose status says 200; status 0: it names none.
Error faultInside(const ServerAddress& address, const nlohmann::json& error);

}  // namespace winnow::app
