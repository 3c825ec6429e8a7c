// The place where the keyboard goes when what had it is gone: a view that was left, a button that has done its work, a dialog whose opener
// is no more. Qt hands it to the next control in line or to nobody; here it comes to the question box, or to what stands in its place.
//
// Made by main_window.h for its window, on the regions that F6 goes round. It waits for the event to end: whoever has another control in
// mind for the keyboard gives it to that one, before hiding what had it. UI thread only.
#pragma once

#include <QObject>
#include <QPointer>

#include "ui/shell/ground/focus_regions.h"

class QWidget;

namespace winnow::ui {

class FocusHome : public QObject {
  Q_OBJECT
 public:
  FocusHome(QWidget& window, const FocusRegions& regions);

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void onFocusChanged(QWidget* old, QWidget* now);
  void bringFrom(QWidget* chosen);  // by Qt; null: nothing has the keyboard

  QWidget& m_window;
  const FocusRegions& m_regions;
  QPointer<QWidget> m_last;  // of the window, that had the keyboard
  bool m_known = false;      // there was one
};

}  // namespace winnow::ui
