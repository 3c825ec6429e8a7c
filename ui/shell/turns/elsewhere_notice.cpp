#include "ui/shell/turns/elsewhere_notice.h"

#include <algorithm>

#include "ui/composer/composer.h"
#include "ui/models/conversation_list_model.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/turns/chat_session.h"

namespace winnow::ui {

ElsewhereNotice::ElsewhereNotice(const WindowServices& services, ChatSession& session, Composer& composer, QWidget* parent)
    : NoticeBar(QStringLiteral("elsewhere"), parent),
      m_store(services.store),
      m_settings(services.settings),
      m_session(session),
      m_composer(composer) {
  connect(&m_session.answers, &AnswerRun::stateChanged, this, &ElsewhereNotice::update);
  connect(&m_session.chat, &OpenChat::shown, this, &ElsewhereNotice::update);
  connect(&m_session.chat, &OpenChat::created, this, [this](ConversationId id) {
    const std::size_t place = placeOf(0);
    if (place == m_queue.size()) return;
    m_queue[place].chat = id;
    saveQueue();
    update();
  });
  connect(&m_session.chat, &OpenChat::replaced, this, [this] {
    m_queue.clear();
    m_overtaken.clear();
  });
  connect(&m_session.chat, &OpenChat::storeOpened, this, [this] {
    m_overtaken = m_settings.atStart().queued;
    m_overtaken.removeIf([this](ConversationId id) { return m_session.list.find(id) == nullptr; });
    update();
  });
  connect(&m_session.list, &ChatList::removed, this, &ElsewhereNotice::leave);
  connect(&m_store, &app::ChatStore::conversationLoaded, this, &ElsewhereNotice::sendOnLoaded);
  connect(&m_store, &app::ChatStore::failed, this, [this](app::RequestToken token) {
    if (token == m_loading) m_loading = 0;
  });
  // The chat's name may be known later, or change.
  connect(&m_session.list.model(), &ConversationListModel::modelReset, this, &ElsewhereNotice::update);
  connect(&m_session.list.model(), &ConversationListModel::dataChanged, this, &ElsewhereNotice::update);
  connect(&m_session.answers, &AnswerRun::sent, this, [this] { leave(shownChat()); });
  connect(&m_composer, &Composer::queueRequested, this, &ElsewhereNotice::queue);
  connect(this, &NoticeBar::closed, this, [this] {
    m_overtaken.clear();
    saveQueue();
  });
}

ConversationId ElsewhereNotice::shownChat() const { return m_session.chat.id(); }

std::size_t ElsewhereNotice::placeOf(ConversationId chat) const {
  const auto found = std::ranges::find(m_queue, chat, &Queued::chat);
  return static_cast<std::size_t>(found - m_queue.begin());
}

void ElsewhereNotice::queue() {
  if (!queued()) m_queue.push_back({shownChat(), AnswerRun::Time::clock::now(), m_composer.editing()});
  m_overtaken.removeAll(shownChat());
  saveQueue();
  update();
}

void ElsewhereNotice::leave(ConversationId chat) {
  if (std::erase_if(m_queue, [chat](const Queued& each) { return each.chat == chat; }) + m_overtaken.removeAll(chat) == 0) return;
  saveQueue();
  update();
}

void ElsewhereNotice::saveQueue() {
  app::AtStart atStart = m_settings.atStart();
  atStart.queued = m_overtaken;
  for (const Queued& each : m_queue) {
    if (each.chat != 0) atStart.queued.append(each.chat);
  }
  m_settings.setAtStart(atStart);
}

QString ElsewhereNotice::titleOf(ConversationId id) const {
  const app::Conversation* chat = m_session.list.find(id);
  return chat != nullptr ? m_session.list.model().toldTitle(*chat) : tr("another chat");
}

NoticeAction ElsewhereNotice::showIt(ConversationId chat) {
  return {tr("Show it"), [this, chat] { Q_EMIT openRequested(chat); }};
}

NoticeAction ElsewhereNotice::keepBack(ConversationId chat) {
  return {tr("Do not send"), [this, chat] { leave(chat); }};
}

Notice ElsewhereNotice::ofThisChat() {
  const ConversationId here = shownChat();
  if (const std::size_t place = placeOf(here); place < m_queue.size())
    return {.text = place == 0 ? tr("Your question is next.") : tr("Before yours: %Ln question(s).", nullptr, static_cast<int>(place)),
            .actions = {keepBack(here)},
            .closable = false};
  if (m_overtaken.contains(here)) return {.text = tr("Winnow was closed before this question was sent. It is in the box.")};
  return {};
}

Notice ElsewhereNotice::ofOtherChats() {
  const auto waits = std::ranges::find_if(m_queue, [this](const Queued& each) { return each.chat != shownChat() && each.chat != 0; });
  if (waits != m_queue.end())
    return {.text = tr("Your question in “%1” is next.").arg(titleOf(waits->chat)),
            .actions = {showIt(waits->chat), keepBack(waits->chat)},
            .closable = false};
  if (m_overtaken.isEmpty()) return {};
  const ConversationId other = m_overtaken.first();
  return {.text = tr("Winnow was closed before your question in “%1” was sent. It is in that chat’s box.").arg(titleOf(other)),
          .actions = {showIt(other)}};
}

void ElsewhereNotice::update() {
  // The box hears of the change as well, and perhaps later.
  if (!m_queue.empty()) QMetaObject::invokeMethod(this, &ElsewhereNotice::sendNext, Qt::QueuedConnection);
  const std::optional<AnswerPhase> written = m_session.answers.phase();
  Notice notice = ofThisChat();
  if (written && !m_session.answers.writingHere()) {
    Notice writing{.text = tr("An answer is being written in “%1”.").arg(titleOf(written->conversation)),
                   .actions = {showIt(written->conversation), {tr("Stop it"), [this] { m_session.answers.stop(); }}},
                   .closable = false};
    if (queued()) {
      writing.text += QLatin1Char(' ') + notice.text;
      writing.actions.push_back(notice.actions.front());
    }
    notice = writing;
  } else if (queued() && m_session.answers.canSend()) {
    notice = {};  // it goes off
  } else if (notice.text.isEmpty()) {
    notice = ofOtherChats();
  }
  present(notice);
}

void ElsewhereNotice::sendNext() {
  if (m_session.answers.busy() || m_loading != 0 || m_session.model.state() == ModelState::kLoading) return;
  for (const Queued& next : m_queue) {
    if (next.chat == shownChat()) {
      m_session.answers.countFrom(next.asked);
      leave(next.chat);
      m_composer.submit();
      m_session.answers.countFrom(std::nullopt);
      return;
    }
    const bool fromItsChatAlone = next.chat == 0 || next.waitsForItsChat || m_session.subject.watches(next.chat);
    if (fromItsChatAlone || !m_session.model.blockedReason().isEmpty()) continue;
    m_loading = m_store.loadConversation(next.chat);
    return;
  }
}

// The store knows the question of a chat that is not on screen.
void ElsewhereNotice::sendOnLoaded(app::RequestToken token, const app::LoadedConversation& chat) {
  if (token != m_loading) return;
  m_loading = 0;
  const ConversationId id = chat.conversation.id;
  const std::size_t place = placeOf(id);
  if (m_session.answers.busy() || place == m_queue.size()) return;
  if (id == shownChat()) return sendNext();
  const QList<app::StoredMessage> thread = app::branchTo(chat.messages, chat.conversation.activeLeaf);
  if (!thread.isEmpty() && thread.last().role == Role::kUser) {  // which of its answers it follows is chosen there
    m_queue[place].waitsForItsChat = true;
    return sendNext();
  }
  const AnswerRun::Time asked = m_queue[place].asked;
  leave(id);
  if (!chat.draft.text.trimmed().isEmpty()) m_session.answers.sendDraft(chat, asked);
}

}  // namespace winnow::ui
