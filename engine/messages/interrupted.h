// How a request ends that was interrupted and has changed nothing: the answer of whoever stands between a program and its engine.
#pragma once

#include "engine/messages/events.h"

namespace winnow {

inline Finished interrupted_and_restored() { return {.reason = StopReason::kInterrupted, .restored = true}; }

}  // namespace winnow
