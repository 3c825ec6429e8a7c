// Where a drop lands: laid over the box while files or pictures are dragged over the window.
//
// Used by the composer. Takes no clicks. UI thread only.
#pragma once

#include <QWidget>

namespace winnow::ui {

class DropMark : public QWidget {
  Q_OBJECT
 public:
  // Covers its parent, whatever size that takes.
  explicit DropMark(QWidget* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace winnow::ui
