// Has attached media read before a question is asked, as far as the chat's recipe can without one, and says so above the plan.
//
// Used by chat_page.h. Begins a moment after the last change of what matters (media, frames, pins, recipe, chat), while nothing else runs,
// if the settings allow it; words that are typed change nothing. What changes starts it anew, other work of the engine's stops it, and a
// question that is sent meanwhile waits for it, because it is the same work. UI thread only.
#pragma once

#include <QObject>
#include <QTimer>

#include "app/chats/chat/line_store.h"
#include "app/chats/settings/settings.h"
#include "app/engine/host/engine_host.h"
#include "ui/composer/description_dialog.h"
#include "ui/composer/preparation_line.h"
#include "ui/models/wait_progress.h"

namespace winnow::ui {

class Composer;
struct ChatSession;
struct WindowServices;

class PreparationController : public QObject {
  Q_OBJECT
 public:
  PreparationController(const WindowServices& services, ChatSession& session, Composer& composer, PreparationLine& line,
                        QObject* parent = nullptr);

 Q_SIGNALS:
  void ready();  // what a question would take has changed

 private:
  enum class Stage : int { kNone = 1, kWaiting = 2, kRunning = 3, kReady = 4, kDeclined = 5, kFailed = 6 };
  // The subject of a preparation: another one is no use to a question about these.
  struct Subject {
    ConversationId conversation = 0;  // 0: a draft that has no number yet and may get one any time
    app::MessageId after = 0;         // the last message before the question; 0: none
    QList<app::Attachment> attachments{};
    QString systemPrompt{};
    RecipeSpec recipe{};
    Guard guard = Guard::kKeep;

    // A later question that everything is read again for, whatever was prepared.
    bool readAgain() const { return after != 0 && (guard == Guard::kPrefill || guard == Guard::kRam); }
    bool sameAs(const Subject& other) const;
  };

  Subject subjectNow() const;
  void consider();
  void begin();
  void start();
  void drop();
  void act();
  void showDescription();
  void keepDescription();
  void onEngineEvent(const Event& event);
  void show();
  bool onlyTexts() const;

  app::EngineHost& m_engine;
  app::LineStore m_lines;
  ChatSession& m_session;
  const app::Settings& m_settings;
  Composer& m_composer;
  PreparationLine& m_line;
  QTimer m_timer;
  Stage m_stage = Stage::kNone;
  Subject m_subject;
  RequestId m_request = 0;
  bool m_sent = false;  // a question waits for the one that runs
  WaitProgress m_progress;
  Progress m_frames;  // what was told last
  Prepared m_prepared;
  CacheReport m_report;
  QList<DescribedMedium> m_media;  // of the thread, as far as they are known
};

}  // namespace winnow::ui
