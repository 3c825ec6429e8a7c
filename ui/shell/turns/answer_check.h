// "What changed?": one answer of the chat checked against the full cache.
//
// Used by chat_page.h; the result is kept with the answer and shown there. One check at a time; interrupted or failed it changes
// nothing. UI thread only.
#pragma once

#include <QObject>

#include "app/engine/host/engine_host.h"
#include "ui/shell/turns/chat_session.h"

namespace winnow::ui {

class Composer;
class TranscriptView;
struct WindowServices;

class AnswerCheck : public QObject {
  Q_OBJECT
 public:
  // Asked for in the transcript, which shows how far it is; why there can be none is told in the composer. All of them outlive it.
  AnswerCheck(const WindowServices& services, ChatSession& session, TranscriptView& transcript, Composer& composer,
              QObject* parent = nullptr);

  void check(app::MessageId answer);  // 0: the last one on screen
  bool canCheck() const;              // there is an answer on screen that can be checked
  void stop();
  bool running() const { return m_request != 0; }

 Q_SIGNALS:
  void stateChanged();
  void problem(const winnow::Error& error, winnow::app::MessageId answer);

 private:
  void onEvent(const Event& event);
  void end();
  const app::StoredMessage* find(app::MessageId answer) const;

  app::EngineHost& m_engine;
  app::ChatStore& m_store;
  ChatSession& m_session;
  TranscriptView& m_transcript;
  Composer& m_composer;
  RequestId m_request = 0;
  ConversationId m_conversation = 0;
  app::MessageId m_answer = 0;
};

}  // namespace winnow::ui
