// A source that is watched in a chat: what questions about it are asked of. Plain values.
//
// Made by watch_controller.h, read by question_subject.h.
#pragma once

#include "app/chats/chat/conversation.h"

namespace winnow::ui {

struct WatchedSource {
  ConversationId conversation = 0;  // the chat; 0: it has no number yet
  app::Attachment attachment;       // the source as an attachment of each question
  app::NamedRecipe recipe;          // of every clip and question, whatever the chat's becomes
  bool seen = false;                // the engine holds something of it
};

}  // namespace winnow::ui
