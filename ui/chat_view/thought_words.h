// The line under which a thought is folded, and the one that is shown of it while it is written.
//
// Used by the transcript for what it draws, for its menu and for what it tells screen readers. UI thread only (translations).
#pragma once

#include "ui/chat_view/message_content.h"

namespace winnow::ui {

// It is being written, and no word of the answer is yet.
bool thinks(const MessageContent& content);

// "Thinking… 12 s", "Thought for 12.0 s · 240 tokens", or "Thought" where its figures are not known.
QString thoughtLine(const MessageContent& content);

// Its present thought: the last line of a thought that is being written; else empty.
QString lastThought(const MessageContent& content);

}  // namespace winnow::ui
