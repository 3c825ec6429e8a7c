// Whether a server in the engine's place (app/remote) wrote an answer: of its cache nothing is known then but how many of the prompt's
// tokens came from it. Pure; threads: any.
#pragma once

#include "app/chat/conversation.h"

namespace winnow::app {

inline bool isServersAnswer(const Run& run) { return run.device == QLatin1String("server") && run.figures.method.empty(); }

// Of figures.tokens.thread_text, the whole prompt of an answer that a server wrote.
inline qint64 serversCachedTokens(const TurnFigures& figures) { return figures.tokens.thread_text - figures.tokens.prompt; }

}  // namespace winnow::app
