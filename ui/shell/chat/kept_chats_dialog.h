// The stored caches of chats on disk: which chat, how much, when it was last used; to be forgotten one by one or together.
//
// Forgetting costs time only: text, answers and files stay, and media are read again at the next question. Lists what the engine's thread
// has last seen; touches no disk. UI thread only.
#pragma once

#include <QDialog>

#include "app/engine/cache_store/conversation_caches.h"
#include "app/engine/host/engine_host.h"

class QLabel;
class QPushButton;

namespace winnow::ui {

class ConversationListModel;

class KeptChatsDialog : public QDialog {
  Q_OBJECT
 public:
  KeptChatsDialog(const app::ConversationCaches& caches, const ConversationListModel& chats, app::EngineHost& engine, QWidget* parent);

  int rows() const;

 private:
  std::vector<app::ConversationCaches::Entry> kept() const;  // of which there is something
  void fill();
  void forget(ConversationId conversation);

  const app::ConversationCaches& m_caches;
  const ConversationListModel& m_chats;
  app::EngineHost& m_engine;
  QWidget* m_page = nullptr;
  QLabel* m_total = nullptr;
  QPushButton* m_all = nullptr;
};

}  // namespace winnow::ui
