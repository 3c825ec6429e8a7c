// Tells if a server in the engine's place (app/engine/remote) wrote an answer. Of its cache is then known only how many of the prompt's
// tokens came from it. Pure; threads: any.
#pragma once

#include "app/chats/chat/conversation.h"

namespace winnow::app {

inline bool isServersAnswer(const Run& run) { return run.device == QLatin1String("server") && run.figures.method.empty(); }

// Part of figures.tokens.thread_text, which is the whole prompt of an answer that a server wrote.
inline qint64 serversCachedTokens(const TurnFigures& figures) { return figures.tokens.thread_text - figures.tokens.prompt; }

}  // namespace winnow::app
