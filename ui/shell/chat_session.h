// The window's parts between the store and the engine: five parts with one job each, in the order in which they need each other.
//
// Made by main_window.h. UI thread only.
#pragma once

#include "ui/shell/answer_run.h"
#include "ui/shell/chat_list.h"
#include "ui/shell/model_session.h"
#include "ui/shell/open_chat.h"
#include "ui/shell/question_subject.h"

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
