// Watches a source for the chat in which that was begun: what is read goes to the engine clip by clip, questions go in between.
//
// Used by chat_page.h. A clip is sent while no answer is being saved or written and no other clip is under way. A question waits for the
// clip that is under way and for what has come since, which may be less than a clip, so that it is about all that was seen. The chat may be
// left: the watch goes on for it, and its bar is there again when it is opened. After the end the chat's questions stay about what was seen
// until the bar is closed. One source is watched at a time. UI thread only.
#pragma once

#include <QObject>
#include <functional>
#include <optional>
#include <variant>

#include "app/engine/host/engine_host.h"
#include "app/media/live/live_watch.h"
#include "ui/shell/chat/question_subject.h"
#include "ui/watch/watch_bar.h"

namespace winnow::ui {

class Composer;
struct ChatSession;
struct WindowServices;

class WatchController : public QObject {
  Q_OBJECT
 public:
  // Why nothing can be watched is told in the composer. All of them outlive it.
  WatchController(const WindowServices& services, ChatSession& session, WatchBar& bar, Composer& composer, QObject* parent = nullptr);

  void choose();  // opens the dialog, or says why not
  void start(const app::WatchRequest& request);
  void stop();                    // reads no more; questions stay about what was seen
  QString blockedReason() const;  // why nothing can be watched now; empty: it can
  const Watched& watched() const { return m_watched; }

 private:
  struct Idle {};
  struct Running {
    RequestId clip = 0;  // the engine reads it; 0: none
    bool begun = false;  // a clip was sent
  };
  struct Ended {
    bool lost = false;  // the engine has forgotten what was seen
  };
  // A question that waits for what has come.
  struct Waiting {
    std::function<void()> then;
    bool caughtUp = false;  // all that had come is here
  };

  bool idle() const { return std::holds_alternative<Idle>(m_state); }
  bool lost() const;

  bool here() const;
  QString name() const;
  void catchUp(std::function<void()> then);
  void goOn();
  void feed();
  void settle();
  void watchAgain();
  void stopClips();
  void letGo();
  void lose(const QString& reason);
  void loseWithEngine(ErrorCode code);
  void onEngineEvent(const Event& event);
  void showDescription();
  QString textNow() const;
  void show();

  app::EngineHost& m_engine;
  ChatSession& m_session;
  WatchBar& m_bar;
  Composer& m_composer;
  app::LiveWatch m_live;
  std::variant<Idle, Running, Ended> m_state;
  std::optional<Waiting> m_waiting;
  WatchedSource m_source;     // unless idle
  Watched m_watched;          // of the last clip; no frames: none yet
  app::WatchRequest m_asked;  // last
  QImage m_picture;           // of what was seen last; small
  QString m_notice;
};

}  // namespace winnow::ui
