// The lines beside a message's text. Of an answer: why it is not whole, or not to be relied on, with the way on from there, and the line of
// its thought. Of a question: what was noticed of its media.
//
// Used by the transcript for what it draws, for its menu and for what it tells screen readers. UI thread only (translations).
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

// The line under which a thought is folded, and the one that is shown of it while it is written.

// It is being written, and no word of the answer is yet.
bool thinks(const MessageContent& content);

// "Thinking… 12 s", "Thought for 12.0 s · 240 tokens", or "Thought" where its figures are not known.
QString thoughtLine(const MessageContent& content);

// Its present thought: the last line of a thought that is being written; else empty.
QString lastThought(const MessageContent& content);

}  // namespace winnow::ui
