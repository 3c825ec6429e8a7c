// The line under which a thought is folded.
//
// Used by the transcript for what it draws, for its menu and for what it tells screen readers. UI thread only (translations).
#pragma once

#include "ui/chat_view/message_content.h"

namespace winnow::ui {

// "Thinking…", "Thought for 12.0 s · 240 tokens", or "Thought" where its figures are not known.
QString thoughtLine(const MessageContent& content);

}  // namespace winnow::ui
