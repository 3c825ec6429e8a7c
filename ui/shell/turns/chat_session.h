// The window's parts between the store and the engine: five parts with one job each, in the order in which they need each other.
//
// Made by main_window.h. UI thread only.
#pragma once

#include "ui/shell/chat/chat_list.h"
#include "ui/shell/chat/open_chat.h"
#include "ui/shell/chat/question_subject.h"
#include "ui/shell/model/model_session.h"
#include "ui/shell/turns/answer_run.h"

namespace winnow::ui {

struct ChatSession {
  explicit ChatSession(AnswerRun::Services services)
      : model(services.engine, services.settings),
        list(services.store),
        chat(services.store, services.settings, list),
        subject(chat),
        answers(services, {model, list, chat, subject}) {}

  ModelSession model;
  ChatList list;
  OpenChat chat;
  QuestionSubject subject;
  AnswerRun answers;
};

}  // namespace winnow::ui
