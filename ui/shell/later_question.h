// What a next question of a chat can still see of its images and videos, in words. Used by chat_page.h. Pure; UI thread only
// (translations).
#pragma once

#include <QList>
#include <QString>
#include <vector>

#include "app/chat/conversation.h"
#include "engine/messages/requests.h"
#include "engine/recipes/method_info.h"

namespace winnow::ui {

// What it is asked under.
struct LaterQuestion {
  RecipeSpec recipe;
  Guard guard = Guard::kKeep;
};

// branch: the messages on screen, oldest first. Empty: it goes on and sees everything, or nothing was read yet.
QString laterQuestionText(const QList<app::StoredMessage>& branch, const LaterQuestion& later, const std::vector<MethodInfo>& methods);

}  // namespace winnow::ui
