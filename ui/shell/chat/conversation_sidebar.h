// The list of conversations: new, search, open, rename in place, folders, delete; under it what a search has found in files.
//
// Used by main_window.h. Asks by signals; the list itself is ConversationListModel. UI thread only.
#pragma once

#include <QTimer>
#include <QWidget>
#include <functional>

#include "app/chats/chat/conversation.h"

class QLabel;
class QLineEdit;
class QListView;
class QMenu;
class QPushButton;

namespace winnow::ui {

class ConversationFolders;
class ConversationListModel;
class FoundPlacesModel;

class ConversationSidebar : public QWidget {
  Q_OBJECT
 public:
  ConversationSidebar(ConversationListModel& model, FoundPlacesModel& places, QWidget* parent = nullptr);

  void select(ConversationId id);
  void renameSelected();
  ConversationId selected() const;
  QListView* list() const { return m_list; }
  QListView* places() const { return m_placeList; }  // in files; hidden where none were found
  QLineEdit* search() const { return m_search; }
  void step(int rows);
  void showAll();  // looks for nothing any more

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void newRequested();
  void searchRequested(const QString& words);
  void openRequested(winnow::ConversationId id);
  void placeRequested(const winnow::app::SearchHit& hit);
  void aroundRequested(const QByteArray& video, double atS);  // in a new chat
  void deleteRequested(winnow::ConversationId id);
  void pinRequested(winnow::ConversationId id, bool pinned);

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showHint();
  void buildPlaces();
  QString folderAt(const QPoint& at) const;  // whose heading is there; empty: none's
  void editFolders(const std::function<void(ConversationFolders&)>& edit);
  void setClosed(const QString& folder, bool closed);
  void addFolders(QMenu& menu, ConversationId id);
  void showFolderMenu(const QString& folder, const QPoint& at);
  void askName(const QString& title, const QString& before, const std::function<void(const QString&)>& then);

  ConversationListModel& m_model;
  FoundPlacesModel& m_places;
  QListView* m_list = nullptr;
  QListView* m_placeList = nullptr;
  QPushButton* m_new = nullptr;
  QLineEdit* m_search = nullptr;
  QTimer m_searchTimer;
  QWidget* m_hint = nullptr;
  ConversationId m_open = 0;  // what select() was told last
  QLabel* m_hintText = nullptr;
};

}  // namespace winnow::ui
