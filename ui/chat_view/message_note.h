// Why an answer is not whole, in a sentence, and the way on from there; of a question, what was noticed of its media.
//
// Used by the transcript for what it draws and for what it tells screen readers. UI thread only (translations).
#pragma once

#include "ui/chat_view/message_content.h"

namespace winnow::ui {

// Empty: the answer is whole, or it is still written, or an error card says what happened; nothing was noticed.
QString noteOf(const MessageContent& content);

// What the button says by which the answer goes on, on the error card or under the note. Empty: there is none.
QString wayOn(const MessageContent& content);

// What an error card advises; there is an error.
QString remedyOf(const MessageContent& content);

}  // namespace winnow::ui
