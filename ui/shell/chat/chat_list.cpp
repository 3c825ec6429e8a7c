#include "ui/shell/chat/chat_list.h"

#include <algorithm>

namespace winnow::ui {
namespace {

constexpr const char* kFoldersKey = "chat/folders";  // among the settings, which are saved with the chats
constexpr int kMostHits = 1000;                      // messages; a chat may have many of them

}  // namespace

ChatList::ChatList(app::ChatStore& store, QObject* parent) : QObject(parent), m_store(store) {
  using app::ChatStore;
  const auto put = [this](app::RequestToken, const app::Conversation& conversation) { m_model.put(conversation); };
  connect(&m_store, &ChatStore::opened, this, [this](app::RequestToken, const app::StoreOpened& report) {
    m_model.setRunning(0);
    m_model.setFolders(ConversationFolders::fromJson(report.settings.value(QLatin1String(kFoldersKey)).toUtf8()));
    m_model.setConversations(report.conversations);
  });
  connect(&m_store, &ChatStore::conversationsListed, this,
          [this](app::RequestToken, const QList<app::Conversation>& conversations) { m_model.setConversations(conversations); });
  connect(&m_store, &ChatStore::conversationCreated, this, put);
  connect(&m_store, &ChatStore::conversationChanged, this, put);
  connect(&m_store, &ChatStore::called, &m_model, &ConversationListModel::put);
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
  connect(&m_store, &ChatStore::chatsImported, this, [this](app::RequestToken, const app::ImportedChats& chats) {
    refresh();
    Q_EMIT imported(chats);
  });
  connect(&m_store, &ChatStore::failed, this, [this](app::RequestToken token, const Error& error) {
    if (token == m_import) Q_EMIT importFailed(error);
  });
  connect(&m_store, &ChatStore::deletedListed, this,
          [this](app::RequestToken, const QList<app::Conversation>& removed) { Q_EMIT removedListed(removed); });
  connect(&m_store, &ChatStore::searchFinished, this, [this](app::RequestToken token, const QList<app::SearchHit>& hits) {
    if (token != m_search) return;  // more was typed since
    ConversationListModel::Found found;
    for (const app::SearchHit& hit : hits) {  // best first
      if (hit.conversation == 0 || found.contains(hit.conversation)) continue;
      const QString words = foundWords(hit);
      found.insert(hit.conversation, hit.place ? tr("%1: %2").arg(placeName(*hit.place), words) : words);
    }
    m_model.showOnly(found);
    m_places.setHits(hits);
  });
  connect(&m_model, &ConversationListModel::renameRequested, this, &ChatList::rename);
  connect(&m_model, &ConversationListModel::foldersChanged, this,
          [this] { m_store.setSetting(QLatin1String(kFoldersKey), QString::fromUtf8(m_model.folders().toJson())); });
}

void ChatList::refresh() { m_store.listConversations(); }

void ChatList::search(const QString& words) {
  if (words.trimmed().isEmpty()) {
    m_search = 0;
    m_model.showOnly(std::nullopt);
    m_places.setHits({});
  } else {
    m_search = m_store.search(words, kMostHits);
  }
}

void ChatList::import(const QString& path, const app::ConversationOptions& options) { m_import = m_store.importChats(path, options); }

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
  if (m_lastRemoved != 0) restore(m_lastRemoved);
}

void ChatList::listRemoved() { m_store.listDeleted(); }

void ChatList::restore(ConversationId id) {
  if (id == m_lastRemoved) m_lastRemoved = 0;
  m_store.restoreConversation(id);
}

}  // namespace winnow::ui
