// Enter and Space press whatever has the focus ring: Qt's buttons, lists and drop-down boxes each know one of the two keys only. In a
// window that steps through something (setArrowsStep) arrows at a button are the window's, instead of wandering between its buttons.
//
// One filter on the application, installed by Theme; nobody else uses it. Fields for text are none of its business. UI thread only.
#pragma once

#include <QObject>

class QKeyEvent;
class QWidget;

namespace winnow::ui {

class PressKeys : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  bool filterKey(QWidget& focused, QKeyEvent& key);
};

}  // namespace winnow::ui
