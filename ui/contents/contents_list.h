// The lines of a video with their times, as a list: what is said and, set apart, what the model wrote of it. Several neighbours can be
// chosen, by Shift and a click or an arrow.
//
// Used by video_contents.h. UI thread only.
#pragma once

#include <QListView>
#include <optional>
#include <utility>

#include "app/chats/chat/file_lines.h"

class QStandardItemModel;

namespace winnow::ui {

class ContentsList : public QListView {
  Q_OBJECT
 public:
  explicit ContentsList(QWidget* parent = nullptr);

  // Shows those that have a time, in order; the first is current.
  void setLines(const QList<app::FileLine>& lines);
  const QList<app::FileLine>& lines() const { return m_lines; }
  QList<app::FileLine> chosen() const;
  // In seconds, from the first chosen line's beginning to the last one's end; nothing is chosen: not set.
  std::optional<std::pair<double, double>> stretch() const;
  void goTo(double seconds);  // to the line that is said then, or the last one before it

 Q_SIGNALS:
  void stretchChanged();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QStandardItemModel* m_rows = nullptr;
  QList<app::FileLine> m_lines;
};

}  // namespace winnow::ui
