// Asks where to, then saves the chat on screen: as Markdown the branch that is shown, as JSON everything.
//
// Used by commands.h. The file is written on a worker thread. UI thread only.
#pragma once

class QWidget;

namespace winnow::app {
struct LoadedConversation;
}

namespace winnow::ui {

void exportChat(QWidget* window, const app::LoadedConversation& chat);

}  // namespace winnow::ui
