// Writes a traced turn as a safetensors file (names in engine/messages/requests.h, ExportTurn). Throws Exception when it cannot be written.
#pragma once

#include <string>

#include "engine/generation/context/turn_trace.h"

namespace winnow {

void write_turn_trace(const std::string& path, const TurnTrace& trace);

}  // namespace winnow
