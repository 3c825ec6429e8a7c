// The conversations of the sidebar, newest first, under pinned ones and those in folders; all of them, or those that a search has found.
// A closed folder is one row, which stands for its chats and is none of them.
//
// Filled by ChatList from the store's answers. Renaming in place asks by a signal; the list changes when the store has acknowledged.
// UI thread only.
#pragma once

#include <QAbstractListModel>
#include <QCollator>
#include <QHash>
#include <functional>
#include <optional>

#include "app/chats/chat/conversation.h"
#include "app/words/format_text.h"
#include "ui/models/conversation_folders.h"

namespace winnow::ui {

class ConversationListModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum Role : int { kIdRole = Qt::UserRole + 1, kSubtitleRole, kRunningRole, kPinnedRole, kGroupRole, kFolderRole, kClosedRole };
  // kGroupRole: "Yesterday", of the first row of a group; empty: of the others, and among what a search has found. kFolderRole: the
  // folder, where that is the row's group.

  using QAbstractListModel::QAbstractListModel;
  void setConversations(const QList<app::Conversation>& conversations);
  void put(const app::Conversation& conversation);  // adds or replaces, keeps the order
  void remove(ConversationId id);
  const ConversationFolders& folders() const { return m_folders; }
  void editFolders(const std::function<void(ConversationFolders&)>& edit);  // `foldersChanged`
  void setFolders(const ConversationFolders& folders);                      // as they were saved
  void setRunning(ConversationId id);                                       // 0: none
  // Rows are these only, and say what was found of them (empty: when they were used); nullopt: all of them.
  using Found = QHash<ConversationId, QString>;
  void showOnly(std::optional<Found> found);
  bool showsAll() const { return !m_found; }
  int rowOf(ConversationId id) const;
  ConversationId idAt(int row) const;                      // 0: of a closed folder
  const app::Conversation* find(ConversationId id) const;  // among all
  // The title shown for the conversation: its title, else the first words, else "New chat".
  static QString shownTitle(const app::Conversation& conversation);
  // With its number where others are called alike and were there before: "Shapes (2)".
  QString toldTitle(const app::Conversation& conversation) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 Q_SIGNALS:
  void renameRequested(winnow::ConversationId id, const QString& title);
  void foldersChanged();

 private:
  QList<app::Conversation> wantedRows() const;  // in their order
  void arrange();                               // rows and their order, after any change
  bool comesBefore(const app::Conversation& a, const app::Conversation& b) const;
  QString folderOf(const app::Conversation& conversation) const;  // that it stands in; empty: in none
  bool isClosed(int row) const;
  QString headingOf(const app::Conversation& conversation) const;
  void putRow(const app::Conversation& conversation, int target);
  int numberOfName(const app::Conversation& conversation) const;
  QString whenText(const app::Conversation& conversation) const;
  QString groupOf(const app::Conversation& conversation) const;

  QHash<ConversationId, app::Conversation> m_all;
  ConversationFolders m_folders;
  const QCollator m_names = app::nameOrder();
  std::optional<Found> m_found;
  QList<app::Conversation> m_conversations;  // the rows
  ConversationId m_running = 0;
};

}  // namespace winnow::ui
