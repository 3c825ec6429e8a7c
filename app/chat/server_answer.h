// Whether a server in the engine's place (app/remote) wrote an answer: of its cache nothing is known then. Pure; threads: any.
#pragma once

#include "app/chat/conversation.h"

namespace winnow::app {

inline bool isServersAnswer(const Run& run) { return run.device == QLatin1String("server") && run.figures.method.empty(); }

}  // namespace winnow::app
