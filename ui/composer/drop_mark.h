// The mark where a drop lands, laid over the box while files or pictures are dragged over the window.
//
// Used by chat_page.h. Takes no clicks. UI thread only.
#pragma once

#include <QWidget>

class QMimeData;

namespace winnow::ui {

class Composer;

class DropMark : public QWidget {
  Q_OBJECT
 public:
  // Covers the composer, whatever size that takes. What is dragged over its text is seen here, the rest is told by mark().
  explicit DropMark(Composer& composer);

  void mark(const QMimeData* dragged);  // null: nothing is

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace winnow::ui
