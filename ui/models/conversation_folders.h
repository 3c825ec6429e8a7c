// The folders that somebody has put chats into: their names, which are closed, and the chats in each.
//
// A value of ConversationListModel, saved as JSON by ChatList. A chat is in one folder or in none; a folder is there while it holds a chat,
// also one that was deleted and may come back. Threads: one at a time.
#pragma once

#include <QByteArray>
#include <QHash>
#include <QMap>
#include <QSet>
#include <QString>

#include "app/chats/chat/conversation.h"

namespace winnow::ui {

class ConversationFolders {
 public:
  static constexpr int kLongestName = 100;  // characters

  ConversationFolders() = default;
  // Entries that are no folder are left out.
  static ConversationFolders fromJson(const QByteArray& json);
  QByteArray toJson() const;

  bool isEmpty() const { return m_folderOf.isEmpty(); }
  QString folderOf(ConversationId id) const { return m_folderOf.value(id); }  // empty: in none
  bool isClosed(const QString& name) const { return m_closed.contains(name); }
  QStringList names() const;  // in their order

  void put(ConversationId id, const QString& name);          // blank: into none
  void rename(const QString& name, const QString& newName);  // another's: both are one; blank: its chats are in none
  void setClosed(const QString& name, bool closed);

 private:
  QHash<ConversationId, QString> m_folderOf;
  QSet<QString> m_closed;
};

}  // namespace winnow::ui
