// Decides if a question is sent or compared: the panel of methods is opened and left here, and what is sent goes the one way or the other.
//
// Used by chat_page.h. UI thread only.
#pragma once

#include <QObject>

#include "app/chats/chat/conversation.h"

namespace winnow::ui {

class ComparisonController;
class ComparisonSetup;
class Composer;
struct ChatSession;

class ComparisonChooser : public QObject {
  Q_OBJECT
 public:
  // All of them outlive it.
  ComparisonChooser(ChatSession& session, ComparisonController& comparison, ComparisonSetup& setup, Composer& composer,
                    QObject* parent = nullptr);

  bool choosing() const;  // the panel is open
  void chooseOrLeave();
  void leave();
  // Updates what the panel and Send say. writing: something is being written or checked in the chat on screen.
  void update(bool writing);

 Q_SIGNALS:
  void changed();  // the panel was opened or left, or there is something else to send

 private:
  void choose();
  void compareNow();
  void send(const QString& text, const QList<app::Attachment>& attachments);

  ChatSession& m_session;
  ComparisonController& m_comparison;
  ComparisonSetup& m_setup;
  Composer& m_composer;
};

}  // namespace winnow::ui
