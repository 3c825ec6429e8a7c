// How the chat on screen answers: the sampling that its turns are asked with, and where that is changed: a dialog, and the box's choice of
// thinking.
//
// Made by commands.h. UI thread only.
#pragma once

#include <QObject>

#include "app/chats/settings/settings.h"
#include "engine/models/model_info.h"
#include "engine/sampling/sampling.h"

namespace winnow::ui {

class Composer;
struct ChatAnswering;
struct ChatSession;

// A chat's own values before the settings'. Where neither names a seed, each answer that is drawn gets another one; where neither limits
// an answer, it goes on to its end.
Sampling samplingFor(const app::ConversationOptions& options, const app::Settings& settings, const ModelInfo& model);

class ChatSettings : public QObject {
  Q_OBJECT
 public:
  ChatSettings(ChatSession& session, app::Settings& settings, Composer& composer, QObject* parent);

  void open();

 private:
  void apply(const ChatAnswering& chosen);
  void describe();

  ChatSession& m_session;
  app::Settings& m_settings;
  Composer& m_composer;
};

}  // namespace winnow::ui
