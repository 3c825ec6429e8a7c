// "What changed?": one answer of the chat checked against the full cache.
//
// Used by chat_page.h; the result is kept with the answer and shown there. One check at a time; interrupted or failed it changes nothing.
// Asked for, it occupies the chat and shows how far it is. Unasked, the last answer from a compressed cache is checked once nobody has
// wanted anything for some seconds, if the settings allow it and the plan says that it fits and does not take long; whatever is wanted
// meanwhile ends it at once, and nothing is said of a check that could not be made. UI thread only.
#pragma once

#include <QObject>
#include <QTimer>

#include "app/engine/host/engine_host.h"
#include "ui/shell/turns/chat_session.h"

namespace winnow::app {
class Settings;
}

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
  bool running() const { return m_request != 0 && !m_unasked; }

 Q_SIGNALS:
  void stateChanged();
  void problem(const winnow::Error& error, winnow::app::MessageId answer);
  void notChecked(winnow::app::MessageId answer, const QString& reason);  // by itself: "Not checked: needs 3.1 GB"

 private:
  Score scoreOf(const app::StoredMessage& answer) const;  // throws Exception as AnswerRun::turnOf() does
  void post(Score score, const app::StoredMessage& answer);
  void onEvent(const Event& event);
  void end();
  const app::StoredMessage* find(app::MessageId answer) const;
  const app::StoredMessage* unchecked() const;
  void consider();
  void foresee();
  void askCost();
  void checkUnasked(const Planned& full);

  app::EngineHost& m_engine;
  app::ChatStore& m_store;
  const app::Settings& m_settings;
  ChatSession& m_session;
  TranscriptView& m_transcript;
  Composer& m_composer;
  QTimer m_quiet;
  RequestId m_request = 0;  // its plan, or the check
  bool m_unasked = false;
  app::MessageId m_written = 0;  // the answer that was written last: tried once
  app::MessageId m_answer = 0;
};

}  // namespace winnow::ui
