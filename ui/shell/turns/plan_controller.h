// Plans the question that is being written: asks the engine what it would take, and shows the answer under the composer.
//
// Used by chat_page.h. Asks a moment after the last change and only while the engine is idle; a plan that is still being made when the
// question is sent is cancelled, so that nothing waits for it. Also keeps what the last prefill said about other shares of the cache and
// shows it in the method card, as long as it is about the same media. UI thread only.
#pragma once

#include <QObject>
#include <QTimer>
#include <optional>

#include "app/chats/settings/settings.h"
#include "app/engine/host/engine_host.h"
#include "ui/composer/plan_words.h"

namespace winnow::ui {

class Composer;
class PlanLine;
struct ChatSession;
struct WindowServices;

class PlanController : public QObject {
  Q_OBJECT
 public:
  PlanController(const WindowServices& services, ChatSession& session, Composer& composer, PlanLine& line, QObject* parent = nullptr);

  // Asks anew a moment later.
  void schedule();

  // True if the thread has answers and no kept cache can continue it. False while nothing is planned.
  bool readsAgain() const { return m_foreseen && m_foreseen->readsAgain; }
  double expectedMs() const { return m_foreseen ? m_foreseen->expectedMs : 0.0; }  // to the first word; 0: not known

 Q_SIGNALS:
  void changed();  // what is foreseen

 private:
  void ask();
  void apply(const PlanRemedy& remedy);
  void onEngineEvent(const Event& event);
  void rememberMass();
  void showMass();

  // The results of the last scored prefill.
  struct ScoredPrefill {
    ConversationId conversation = 0;
    std::string method;
    QList<app::Attachment> media;  // of its question; empty: those of earlier ones
    std::vector<RetainedMass> mass;
  };

  struct Foreseen {
    bool readsAgain = false;
    double expectedMs = 0.0;
    friend bool operator==(const Foreseen&, const Foreseen&) = default;
  };
  bool readByAnother() const;
  void setForeseen(const std::optional<Foreseen>& foreseen);

  app::EngineHost& m_engine;
  ChatSession& m_session;
  const app::Settings& m_settings;
  Composer& m_composer;
  PlanLine& m_line;
  QTimer m_timer;
  RequestId m_request = 0;
  std::vector<MediaSampled> m_documents;  // that the plan has read
  PlanSubject m_subject;                  // of the running request
  ScoredPrefill m_scored;
  bool m_written = false;  // the running request is of a question that is being written
  std::optional<Foreseen> m_foreseen;
};

}  // namespace winnow::ui
