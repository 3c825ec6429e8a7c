// While an answer is being written in another chat: which chat that is, the way there, Stop, and whether the question here is next.
//
// Used by chat_page.h, above the box. A question that is sent meanwhile waits as its chat's draft, whichever chat is looked at, and goes
// off when its turn has come; what is typed until then goes with it. One that the program's end overtook stays the draft, and is told of at
// the next start. UI thread only.
#pragma once

#include <vector>

#include "ui/shell/ground/notice_bar.h"
#include "ui/shell/turns/answer_run.h"

namespace winnow::ui {

class Composer;
struct ChatSession;
struct WindowServices;

class ElsewhereNotice : public NoticeBar {
  Q_OBJECT
 public:
  ElsewhereNotice(const WindowServices& services, ChatSession& session, Composer& composer, QWidget* parent = nullptr);

  bool queued() const { return placeOf(shownChat()) < m_queue.size(); }  // the question of the chat on screen waits

 Q_SIGNALS:
  void openRequested(winnow::ConversationId chat);

 private:
  struct Queued {
    ConversationId chat = 0;  // 0: new, and being saved
    AnswerRun::Time asked{};
    bool waitsForItsChat = false;  // it can go off from the screen alone
  };
  ConversationId shownChat() const;
  std::size_t placeOf(ConversationId chat) const;  // in the queue; its size: not there
  void update();
  void queue();
  void leave(ConversationId chat);  // the queue, its draft stays
  void saveQueue();
  void sendNext();
  void sendOnLoaded(app::RequestToken token, const app::LoadedConversation& chat);
  QString titleOf(ConversationId chat) const;
  NoticeAction showIt(ConversationId chat);
  NoticeAction keepBack(ConversationId chat);
  Notice ofThisChat();    // its question waits, or was overtaken; else no text
  Notice ofOtherChats();  // likewise

  app::ChatStore& m_store;
  app::Settings& m_settings;
  ChatSession& m_session;
  Composer& m_composer;
  std::vector<Queued> m_queue;        // first come first
  QList<ConversationId> m_overtaken;  // by the end of the program
  app::RequestToken m_loading = 0;    // the chat of the next one
};

}  // namespace winnow::ui
