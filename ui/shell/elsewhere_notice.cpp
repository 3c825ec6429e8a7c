#include "ui/shell/elsewhere_notice.h"

#include "ui/composer/composer.h"
#include "ui/models/conversation_list_model.h"
#include "ui/shell/chat_session.h"

namespace winnow::ui {

ElsewhereNotice::ElsewhereNotice(ChatSession& session, Composer& composer, QWidget* parent)
    : NoticeBar(parent), m_session(session), m_composer(composer) {
  connect(&m_session.answers, &AnswerRun::stateChanged, this, &ElsewhereNotice::update);
  connect(&m_session.chat, &OpenChat::aboutToShow, this, [this] { m_asked.reset(); });
  connect(&m_session.chat, &OpenChat::shown, this, &ElsewhereNotice::update);
  // What the chat is called may be known later, or change.
  connect(&m_session.list.model(), &ConversationListModel::modelReset, this, &ElsewhereNotice::update);
  connect(&m_session.list.model(), &ConversationListModel::dataChanged, this, &ElsewhereNotice::update);
  connect(&m_composer, &Composer::queueRequested, this, &ElsewhereNotice::queue);
  dismiss();
}

void ElsewhereNotice::queue() {
  m_asked = AnswerRun::Time::clock::now();
  update();
}

void ElsewhereNotice::update() {
  const std::optional<AnswerPhase> written = m_session.answers.phase();
  if (!written || m_session.answers.writingHere()) {
    dismiss();
    // The box hears of the change as well, and perhaps later.
    if (m_asked) QMetaObject::invokeMethod(this, &ElsewhereNotice::sendQueued, Qt::QueuedConnection);
    return;
  }
  const app::Conversation* chat = m_session.list.find(written->conversation);
  const QString title = chat != nullptr ? ConversationListModel::shownTitle(*chat) : tr("another chat");
  Notice notice;
  notice.text = m_asked ? tr("An answer is being written in “%1”. Your question is next.").arg(title)
                        : tr("An answer is being written in “%1”.").arg(title);
  notice.closable = false;
  notice.actions.push_back({tr("Show it"), [this, id = written->conversation] { Q_EMIT openRequested(id); }});
  notice.actions.push_back({tr("Stop it"), [this] { m_session.answers.stop(); }});
  if (m_asked) {
    notice.actions.push_back({tr("Do not send"), [this] {
                                m_asked.reset();
                                update();
                              }});
  }
  if (isHidden() || text() != notice.text) present(notice);
}

void ElsewhereNotice::sendQueued() {
  if (!m_asked || m_session.answers.busy()) return;
  m_session.answers.countFrom(*std::exchange(m_asked, std::nullopt));
  m_composer.submit();
  m_session.answers.countFrom(std::nullopt);
}

}  // namespace winnow::ui
