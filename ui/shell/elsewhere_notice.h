// While an answer is being written in another chat: which chat that is, the way there, Stop, and whether the question here is next.
//
// Used by chat_page.h, above the box. A question that is sent meanwhile waits in its box and goes off when the other answer has ended,
// unless another chat is shown by then; what is typed until then goes with it. UI thread only.
#pragma once

#include <optional>

#include "ui/shell/answer_run.h"
#include "ui/shell/notice_bar.h"

namespace winnow::ui {

class Composer;
struct ChatSession;

class ElsewhereNotice : public NoticeBar {
  Q_OBJECT
 public:
  ElsewhereNotice(ChatSession& session, Composer& composer, QWidget* parent = nullptr);

  bool queued() const { return m_asked.has_value(); }

 Q_SIGNALS:
  void openRequested(winnow::ConversationId chat);

 private:
  void update();
  void queue();
  void sendQueued();

  ChatSession& m_session;
  Composer& m_composer;
  std::optional<AnswerRun::Time> m_asked;  // the question that waits: when it was sent
};

}  // namespace winnow::ui
