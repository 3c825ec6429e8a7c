#include "ui/shell/chat_list.h"

#include <algorithm>
#include <utility>

namespace winnow::ui {

ChatList::ChatList(app::ChatStore& store, QObject* parent) : QObject(parent), m_store(store) {
  using app::ChatStore;
  const auto put = [this](app::RequestToken, const app::Conversation& conversation) { m_model.put(conversation); };
  connect(&m_store, &ChatStore::opened, this, [this](app::RequestToken, const app::StoreOpened& report) {
    m_model.setRunning(0);
    m_model.setConversations(report.conversations);
  });
  connect(&m_store, &ChatStore::conversationsListed, this,
          [this](app::RequestToken, const QList<app::Conversation>& conversations) { m_model.setConversations(conversations); });
  connect(&m_store, &ChatStore::conversationCreated, this, put);
  connect(&m_store, &ChatStore::conversationChanged, this, put);
  connect(&m_store, &ChatStore::conversationRestored, this, [this](app::RequestToken, const app::Conversation& conversation) {
    m_model.put(conversation);
    Q_EMIT restored(conversation.id);
  });
  connect(&m_store, &ChatStore::conversationDeleted, this, [this](app::RequestToken, ConversationId id) {
    const app::Conversation* gone = m_model.find(id);
    const QString title = gone != nullptr ? ConversationListModel::shownTitle(*gone) : QString();
    const int row = m_model.rowOf(id);
    m_model.remove(id);
    m_lastRemoved = id;
    Q_EMIT removed(id, m_model.idAt(std::min(row, m_model.rowCount() - 1)), title);
  });
  connect(&m_model, &ConversationListModel::renameRequested, this, &ChatList::rename);
}

void ChatList::refresh() { m_store.listConversations(); }

void ChatList::rename(ConversationId id, const QString& title) { m_store.renameConversation(id, title); }

bool ChatList::isPinned(ConversationId id) const {
  const app::Conversation* conversation = find(id);
  return conversation != nullptr && conversation->pinned;
}

void ChatList::setPinned(ConversationId id, bool pinned) {
  if (id != 0) m_store.setPinned(id, pinned);
}

void ChatList::remove(ConversationId id) {
  if (id == 0) return;
  Q_EMIT aboutToRemove(id);
  m_store.deleteConversation(id);
}

void ChatList::undoRemove() {
  if (m_lastRemoved != 0) m_store.restoreConversation(std::exchange(m_lastRemoved, 0));
}

}  // namespace winnow::ui
