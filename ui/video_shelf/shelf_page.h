// A folder of videos: what is known of each, one question to all of them, and what each answers, with times that lead to the frame.
//
// A page of the window (ui/theme/rooms.h). It shows what ui/shell/turns/video_shelf.h knows and does, and says what is wanted. UI thread
// only.
#pragma once

#include <QDialog>
#include <optional>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "app/engine/video_shelf/video_steps.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace winnow::ui {

struct ShelfRow {
  app::Attachment video;
  bool looked = false;  // opened, and its content is known; or it cannot be opened
  QString unreadable;   // why
  bool hasSound = false;
  bool isHeard = false;
  ConversationId number = 0;  // that it is kept under; 0: not known
  bool prepared = false;
  bool tried = false;       // since preparing began
  double expectedMs = 0.0;  // to prepare it; 0: not known
  QString doing;            // it is its turn
  QString failure;          // of what was done with it last
  std::optional<app::VideoAnswer> answer{};
};

// The state of the work on all of them.
struct ShelfWork {
  QString folder;    // its name
  QString summary;   // "10 videos · 4 prepared · the others take about 2 min"
  QString obstacle;  // why nothing can be done; empty: it can
  bool preparing = false;
  bool asking = false;
  QString question;  // the last one
};

class VideoShelfPage : public QDialog {
  Q_OBJECT
 public:
  // rows: outlive the page; showRows() after others took their place.
  VideoShelfPage(const std::vector<ShelfRow>& rows, QWidget* parent);

  void setWork(const ShelfWork& work);
  void showRows();  // all anew: first those that show what was asked for, the first one current, then those that do not say
  void showRow(const ShelfRow& row);

  QTreeWidget* list() const { return m_list; }
  QLabel* summary() const { return m_summary; }
  QLineEdit* question() const { return m_question; }
  QPushButton* askButton() const { return m_ask; }
  QPushButton* prepareButton() const { return m_prepare; }
  QPushButton* frameButton() const { return m_frame; }
  QPushButton* moreButton() const { return m_more; }

 Q_SIGNALS:
  void prepareRequested(bool on);
  void askRequested(const QString& question);
  void stopRequested();
  void folderRequested();
  void placeRequested(const ShelfRow& row, double atS);       // its contents there
  void aroundRequested(const QByteArray& video, double atS);  // a new chat about what is around this moment

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  const ShelfRow* current() const;  // null: none
  void showTime();
  void askOrStop();

  const std::vector<ShelfRow>& m_rows;
  ShelfWork m_work;
  QLabel* m_summary = nullptr;
  QPushButton* m_prepare = nullptr;
  QTreeWidget* m_list = nullptr;
  std::vector<QTreeWidgetItem*> m_items;  // of the rows
  QPushButton* m_frame = nullptr;
  QPushButton* m_more = nullptr;
  QLineEdit* m_question = nullptr;
  QPushButton* m_ask = nullptr;
};

}  // namespace winnow::ui
