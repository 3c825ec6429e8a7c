// The button of a viewer that pins what it shows. Hidden until there is something to pin with.
//
// Used by frame_viewer.h and document_viewer.h, which know what is pinned; a press changes nothing by itself. UI thread only.
#pragma once

#include <QToolButton>

namespace winnow::ui {

class PinButton : public QToolButton {
  Q_OBJECT
 public:
  // Words for what a press does, for people who do not see it.
  PinButton(const QString& pinWhat, const QString& unpinWhat);

  // consequence: what pinning means for a question that was asked already; may be empty.
  void offer(const QString& tip, const QString& consequence);
  void setPinned(bool pinned);

 private:
  const QString m_pinWhat;
  const QString m_unpinWhat;
};

}  // namespace winnow::ui
