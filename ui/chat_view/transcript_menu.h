// The context menu of a transcript: what can be done with the text, the link and the message under the pointer.
//
// Used by transcript_view.h, which does what was chosen. UI thread only.
#pragma once

#include <QUrl>
#include <functional>
#include <vector>

#include "ui/chat_view/message_actions.h"
#include "ui/chat_view/message_content.h"

class QMenu;
class QWidget;

namespace winnow::ui {

// A listing of the message that can be copied alone.
struct CodeChoice {
  int block = 0;     // index of Action::kCopyCode
  QString language;  // as the message names it; may be empty
};

struct TranscriptMenuChoices {
  std::function<void()> copySelection;  // null: nothing is selected
  std::function<void()> selectAll;
  std::function<void(Action action, int index)> act;  // on the message
  std::vector<CodeChoice> code;                       // in the message, in its order
  bool thoughtOpen = false;
  std::vector<ActionArea> areas;  // what can be clicked of the message
};

// content: null: no message is there. link: invalid: none.
QMenu* newTranscriptMenu(const MessageContent* content, const QUrl& link, const TranscriptMenuChoices& choices, QWidget* parent);

}  // namespace winnow::ui
