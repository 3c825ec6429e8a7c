// Words for what the next question of a chat can still see of its images and videos. Used by chat_page.h. Pure; UI thread only
// (translations).
#pragma once

#include <QList>
#include <QString>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "engine/messages/requests.h"
#include "engine/recipes/method_info.h"

namespace winnow::ui {

// The settings under which it is asked.
struct LaterQuestion {
  app::NamedRecipe recipe{};
  Guard guard = Guard::kKeep;
  QString modelName{};      // of the model that is loaded
  QString modelFolder{};    // likewise; empty: none is
  bool readsAgain = false;  // the user wants everything to be read again for it, or the plan foresees that
  double expectedMs = 0.0;  // to its first word, by the plan; 0: not planned
};

// branch: the messages on screen, oldest first. Empty: it goes on and sees everything, or nothing was read yet.
QString laterQuestionText(const QList<app::StoredMessage>& branch, const LaterQuestion& later, const std::vector<MethodInfo>& methods);

// True if the kept cache was made by another method than the chat has now: reading it again would be a difference.
bool readingAgainHelps(const QList<app::StoredMessage>& branch, const LaterQuestion& later);
// The last answer is another model's, of whose cache nothing is left.
bool anotherModelReads(const QList<app::StoredMessage>& branch, const LaterQuestion& later);

}  // namespace winnow::ui
