// A text model and an image or a video to look at, or a model of images alone and a video: says so in a sentence, and offers the models
// that can.
//
// Used by chat_page.h. Told above the chat, of what is attached to the question that is being written or was attached to an earlier one;
// gone when there is nothing left to look at. The models are the demo model and those of app/library/models whose configuration names what
// is needed. UI thread only.
#pragma once

#include <QObject>
#include <QString>

namespace winnow::app {
class ModelFinder;
}

namespace winnow::ui {

class Composer;
class NoticeBar;
struct ChatSession;
struct WindowServices;

class SightNotice : public QObject {
  Q_OBJECT
 public:
  SightNotice(const WindowServices& services, ChatSession& session, Composer& composer, NoticeBar& notice);

  QString blockedReason() const;  // why what is written cannot be sent; empty: it can

 Q_SIGNALS:
  void changed();  // the reason
  void chooseModelRequested();

 private:
  QString unseen() const;  // the name of what the model cannot look at; empty: nothing
  void update();
  void tell();

  app::ModelFinder* m_finder;  // null: nobody looks
  ChatSession& m_session;
  Composer& m_composer;
  NoticeBar& m_notice;
  QString m_unseen;
};

}  // namespace winnow::ui
