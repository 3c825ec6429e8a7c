#include "ui/theme/press_keys.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>

#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

bool isEnter(int key) { return key == Qt::Key_Return || key == Qt::Key_Enter; }

bool isStep(int key) {
  return key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up || key == Qt::Key_Down || key == Qt::Key_Home ||
         key == Qt::Key_End || key == Qt::Key_PageUp || key == Qt::Key_PageDown;
}

// The row of a drop-down list, which knows Enter alone.
bool dropsDown(const QAbstractItemView& view) { return view.window()->inherits("QComboBoxPrivateContainer"); }

// Acts as if the other key had been pressed and released.
void sendInstead(QWidget& focused, const QKeyEvent& pressed, Qt::Key key) {
  QKeyEvent other(pressed.type(), key, Qt::NoModifier, key == Qt::Key_Space ? QStringLiteral(" ") : QStringLiteral("\r"),
                  pressed.isAutoRepeat());
  QApplication::sendEvent(&focused, &other);
}

}  // namespace

bool PressKeys::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress && event->type() != QEvent::KeyRelease) return false;
  auto* focused = qobject_cast<QWidget*>(watched);
  return focused != nullptr && focused->window()->focusWidget() == focused && filterKey(*focused, *static_cast<QKeyEvent*>(event));
}

bool PressKeys::filterKey(QWidget& focused, QKeyEvent& key) {
  if ((key.modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier) return false;
  const auto* button = qobject_cast<QAbstractButton*>(&focused);
  const auto* box = qobject_cast<QComboBox*>(&focused);
  if (isEnter(key.key()) && (button != nullptr || (box != nullptr && !box->isEditable()))) {
    sendInstead(focused, key, Qt::Key_Space);
    return true;
  }
  const bool steps = button != nullptr && key.type() == QEvent::KeyPress && isStep(key.key());
  if (QWidget* page = steps ? steppedBy(&focused) : nullptr; page != nullptr) {
    QApplication::sendEvent(page, &key);  // past its parents, some of which scroll by them
    return true;
  }
  auto* view = qobject_cast<QAbstractItemView*>(&focused);
  if (view == nullptr || key.key() != Qt::Key_Space || !view->currentIndex().isValid()) return false;
  if (dropsDown(*view)) {
    sendInstead(focused, key, Qt::Key_Return);
    return true;
  }
  if (key.type() == QEvent::KeyPress) Q_EMIT view->activated(view->currentIndex());  // and it is selected, as before
  return false;
}

}  // namespace winnow::ui
