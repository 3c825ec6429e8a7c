// Why an answer is not whole, or not to be relied on, in a sentence, and the way on from there; of a question, what was noticed of its
// media.
//
// Used by the transcript for what it draws and for what it tells screen readers. UI thread only (translations).
#pragma once

#include <optional>

#include "ui/chat_view/message_actions.h"
#include "ui/chat_view/message_content.h"

namespace winnow::ui {

// Empty: the answer is whole, or it is still written, or an error card says what happened; nothing was noticed.
QString noteOf(const MessageContent& content);

// The button on the error card or under the note: the answer goes on, or is written again from all that was attached.
struct WayOn {
  Action action = Action::kContinue;
  QString label;
};
std::optional<WayOn> wayOn(const MessageContent& content);

// An error card's advice; there is an error.
QString remedyOf(const MessageContent& content);

}  // namespace winnow::ui
