// Asks where to, then saves the chat on screen: as Markdown the branch that is shown, as JSON everything.
//
// Used by commands.h. The file is written on a worker thread. UI thread only.
#pragma once

#include <QByteArray>
#include <vector>

#include "engine/recipes/method_info.h"

class QWidget;

namespace winnow::app {
struct LoadedConversation;
}

namespace winnow::ui {

// With what the transcript shows beside the words: writers, frames, figures.
QByteArray chatAsMarkdown(const app::LoadedConversation& chat, const std::vector<MethodInfo>& methods);
void exportChat(QWidget* window, const app::LoadedConversation& chat, const std::vector<MethodInfo>& methods);

}  // namespace winnow::ui
