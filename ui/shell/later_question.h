// What a next question of a chat can still see of its images and videos, in words. Used by chat_page.h. Pure; UI thread only
// (translations).
#pragma once

#include <QList>
#include <QString>
#include <vector>

#include "app/chat/conversation.h"
#include "engine/recipes/method_info.h"

namespace winnow::ui {

// branch: the messages on screen, oldest first. Empty: it sees everything, or nothing was read yet.
QString laterQuestionText(const QList<app::StoredMessage>& branch, const std::vector<MethodInfo>& methods);

}  // namespace winnow::ui
