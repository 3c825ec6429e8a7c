// The list of chats between the sidebar and the store: names, search, deletion and its undoing.
//
// One of the parts of chat_session.h. The list changes when the store has acknowledged. UI thread only.
#pragma once

#include <QObject>

#include "app/chats/chat/chat_store.h"
#include "ui/models/conversation_list_model.h"
#include "ui/models/found_places_model.h"

namespace winnow::ui {

class ChatList : public QObject {
  Q_OBJECT
 public:
  explicit ChatList(app::ChatStore& store, QObject* parent = nullptr);

  ConversationListModel& model() { return m_model; }
  FoundPlacesModel& places() { return m_places; }  // in files, of the search
  const app::Conversation* find(ConversationId id) const { return m_model.find(id); }
  void refresh();  // order, previews and times are the store's

  // Shows those that have the words in their title or their messages; blank: all.
  void search(const QString& words);

  // Those of another program's file join the list; `imported` or `importFailed`.
  void import(const QString& path, const app::ConversationOptions& options);

  void rename(ConversationId id, const QString& title);
  bool isPinned(ConversationId id) const;
  void setPinned(ConversationId id, bool pinned);  // pinned ones stand on top
  void remove(ConversationId id);
  void undoRemove();
  bool canUndoRemove() const { return m_lastRemoved != 0; }
  void listRemoved();  // `removedListed`
  void restore(ConversationId id);

 Q_SIGNALS:
  void imported(const winnow::app::ImportedChats& chats);
  void importFailed(const winnow::Error& error);
  void aboutToRemove(winnow::ConversationId id);
  void removed(winnow::ConversationId id, winnow::ConversationId next, const QString& title);  // next: its neighbour; 0: none is left
  void restored(winnow::ConversationId id);
  void removedListed(const QList<winnow::app::Conversation>& removed);  // newest removal first

 private:
  app::ChatStore& m_store;
  ConversationListModel m_model;
  FoundPlacesModel m_places;
  ConversationId m_lastRemoved = 0;
  app::RequestToken m_import = 0;
  app::RequestToken m_search = 0;  // the last one that was asked; 0: all are shown
};

}  // namespace winnow::ui
