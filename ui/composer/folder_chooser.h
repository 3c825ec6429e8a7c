// The files of a folder, of which some are chosen for one question: sorted by name or time, counted against what fits.
//
// Opened by the composer where a folder holds more than fits, or papers, each of which may be long, or several videos, which can be asked
// one by one instead. The order is the question's. A page
// (ui/theme/rooms.h). UI thread only.
#pragma once

#include <QDialog>
#include <QList>
#include <vector>

#include "app/words/folder_files.h"

class QComboBox;
class QLabel;
class QListWidget;
class QPushButton;

namespace winnow::ui {

class FolderChooser : public QDialog {
  Q_OBJECT
 public:
  // room: how many more files go with the question; at first the first ones are chosen.
  FolderChooser(const QString& name, std::vector<app::FolderFile> files, int room, QWidget* parent);

  QListWidget* list() const { return m_list; }
  QComboBox* order() const { return m_order; }
  QPushButton* attachButton() const { return m_attach; }
  QPushButton* allButton() const { return m_all; }  // null: there are no videos to compare
  QString countText() const;

 Q_SIGNALS:
  void chosen(const QList<QByteArray>& paths);
  void allWanted();  // every video on its own

 private:
  void sort();
  void choose(int first);  // so many of them, from the top
  void showCount();
  QList<QByteArray> paths() const;

  const int m_room;
  std::vector<app::FolderFile> m_files;
  QComboBox* m_order = nullptr;
  QLabel* m_count = nullptr;
  QListWidget* m_list = nullptr;
  QPushButton* m_attach = nullptr;
  QPushButton* m_all = nullptr;
};

}  // namespace winnow::ui
